/* The page of a report: days only where they are chosen, columns moved without another page. The list: how far the
   files are. Without this script all of it works with other pages. */

const EVERY_MS = 2000;

const form = document.querySelector("[data-report-form]");
const list = document.querySelector("[data-reports]");

function showDays() {
    form.querySelector("[data-fixed]").hidden = form.elements.span.value !== "fixed";
}

function move(event) {
    const button = event.target.closest("button[name=move]");
    if (!button) return;
    event.preventDefault();
    const item = button.closest("li");
    const other = button.value.endsWith(":up") ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (button.value.endsWith(":up")) other.before(item);
    else other.after(item);
    button.focus();
}

async function follow() {
    try {
        const answer = await fetch(list.dataset.reports, { headers: { Accept: "application/json" } });
        if (answer.redirected || answer.status === 403) return; // signed out: reloading asks to sign in
        if (answer.ok) {
            const { active } = await answer.json();
            for (const item of list.querySelectorAll("[data-report]")) {
                const row = active[item.dataset.report];
                if (!row) {
                    window.location.reload();
                    return;
                }
                item.querySelector("progress").value = row.percent;
                const state = item.querySelector("[data-state]");
                if (state.textContent !== row.state) state.textContent = row.state;
            }
        }
    } catch (error) {
        if (!(error instanceof TypeError)) throw error; // the network is away: asked again
    }
    window.setTimeout(follow, EVERY_MS);
}

if (form) {
    form.querySelector("[data-columns]").addEventListener("click", move);
    form.elements.span.addEventListener("change", showDays);
    showDays();
}
if (list) window.setTimeout(follow, EVERY_MS);
