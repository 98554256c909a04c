/* Keys for going through many questions: a accepts, r rejects, e edits. They can be turned off, since a single key is
   easily pressed unawares, by speech too. */

const STORED_AS = "analytics.reviewKeys";

const form = document.getElementById("review");
const hint = form.querySelector("[data-shortcuts]");
const toggle = hint.querySelector("input");
const field = form.querySelector("textarea");
const buttons = [...form.querySelectorAll("[data-key]")];

function isTyping(target) {
    return target.matches("input:not([type=checkbox]), textarea, select");
}

function act(event) {
    if (isTyping(event.target)) {
        if (event.key === "Escape") event.target.blur();
        return;
    }
    if (!toggle.checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "e") {
        event.preventDefault();
        field.focus();
        field.setSelectionRange(field.value.length, field.value.length);
        return;
    }
    const button = buttons.find((each) => each.dataset.key === event.key);
    if (button) form.requestSubmit(button);
}

function announce() {
    for (const button of buttons) {
        if (toggle.checked) button.setAttribute("aria-keyshortcuts", button.dataset.key);
        else button.removeAttribute("aria-keyshortcuts");
    }
}

toggle.checked = localStorage.getItem(STORED_AS) !== "off";
toggle.addEventListener("change", () => {
    localStorage.setItem(STORED_AS, toggle.checked ? "on" : "off");
    announce();
});
announce();
hint.hidden = false;
document.addEventListener("keydown", act);
