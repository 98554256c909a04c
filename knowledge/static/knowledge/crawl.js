/* Keeps the page of a crawl, or of other long work, up to date while it goes on, and loads it anew when it has ended. */

const EVERY_MS = 2000;
/* A screen reader is told every so many times only; the numbers change each time. */
const TOLD_EVERY = 5;

const panel = document.querySelector("[data-progress]");
let asked = 0;

function show(progress) {
    for (const [name, count] of Object.entries(progress.counts)) {
        const cell = panel.querySelector(`[data-count="${name}"]`);
        if (cell) cell.textContent = count.toLocaleString(document.documentElement.lang);
    }
    if (asked % TOLD_EVERY === 0) {
        panel.querySelector("[data-state]").textContent = progress.state;
        panel.querySelector("[data-message]").textContent = progress.message;
    }
}

async function follow() {
    try {
        const answer = await fetch(panel.dataset.progress, { headers: { Accept: "application/json" } });
        if (answer.redirected || answer.status === 403) return; // signed out: reloading asks to sign in
        if (answer.ok) {
            const progress = await answer.json();
            if (!progress.is_active) {
                window.location.reload();
                return;
            }
            asked += 1;
            show(progress);
        }
    } catch (error) {
        if (!(error instanceof TypeError)) throw error; // the network is away: asked again
    }
    window.setTimeout(follow, EVERY_MS);
}

if (panel) window.setTimeout(follow, EVERY_MS);
