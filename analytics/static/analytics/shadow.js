/* Tries an FAQ as it stands in its form on the questions nearest to it: on the button, and from then on whenever
   somebody stops writing. Without this script the button opens the same in another tab. */

const PAUSE_MS = 1500;

const panel = document.querySelector("[data-shadow]");
const form = panel && document.getElementById(panel.dataset.form);
const result = panel?.querySelector("[data-shadow-result]");
const busy = panel?.querySelector("[data-shadow-busy]");
let asked = null;
let timer = 0;

async function tryOut() {
    window.clearTimeout(timer);
    asked?.abort();
    const mine = new AbortController();
    asked = mine;
    busy.hidden = false;
    try {
        const answer = await fetch(panel.dataset.shadow, {
            method: "POST",
            body: new FormData(form),
            headers: { "X-Requested-With": "fetch" },
            signal: mine.signal,
        });
        if (!answer.ok || answer.redirected) throw new TypeError("refused");
        result.innerHTML = await answer.text(); // of our own server, which escapes what others wrote
    } catch (error) {
        if (error.name === "AbortError") return;
        if (!(error instanceof TypeError)) throw error;
        result.textContent = panel.dataset.failed;
    }
    if (asked === mine) busy.hidden = true;
}

if (form) {
    panel.querySelector("[data-shadow-try]").addEventListener("click", (event) => {
        event.preventDefault();
        tryOut();
    });
    form.addEventListener("input", () => {
        if (!asked) return; // nobody wants to know yet
        window.clearTimeout(timer);
        timer = window.setTimeout(tryOut, PAUSE_MS);
    });
}
