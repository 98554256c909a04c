/* Keys for going through the review queue. Single keys can be turned off, since
   one is easily pressed unawares, by speech too (WCAG 2.1.4). */

const STORED_AS = "analytics.reviewQueueKeys";

const form = document.getElementById("review-form");
const keyed = [...document.querySelectorAll("[data-key]")];

function setUpKeys() {
    const hint = form.querySelector("[data-shortcuts]");
    const toggle = hint.querySelector("input");
    const help = document.getElementById("review-keys");

    function isTyping(target) {
        return target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [role=combobox]");
    }

    function use(element) {
        if (element.matches("textarea")) element.focus();
        else if (element.matches("[type=radio]")) element.checked = true;
        else element.click();
    }

    function act(event) {
        if (isTyping(event.target)) {
            if (event.key === "Escape") event.target.blur();
            return;
        }
        if (!toggle.checked || help.open || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        if (event.key === "?") {
            help.showModal();
            return;
        }
        const element = keyed.find((each) => each.dataset.key === event.key);
        if (!element) return;
        event.preventDefault();
        use(element);
    }

    function announce() {
        for (const element of keyed) {
            if (toggle.checked) element.setAttribute("aria-keyshortcuts", element.dataset.key);
            else element.removeAttribute("aria-keyshortcuts");
        }
        for (const each of form.querySelectorAll("[data-hint]")) each.hidden = !toggle.checked;
    }

    toggle.checked = localStorage.getItem(STORED_AS) !== "off";
    toggle.addEventListener("change", () => {
        localStorage.setItem(STORED_AS, toggle.checked ? "on" : "off");
        announce();
    });
    form.querySelector("[data-help]").addEventListener("click", () => help.showModal());
    help.querySelector("[data-close]").addEventListener("click", () => help.close());
    announce();
    hint.hidden = false;
    document.addEventListener("keydown", act);
}

/* A verdict that was chosen and a comment that was begun are not lost by a key or a click that leads elsewhere. */
function keepInput() {
    const comment = form.querySelector("textarea");
    const verdicts = [...form.querySelectorAll("[name=verdict]")];
    let isSaving = false;
    form.addEventListener("submit", () => {
        isSaving = true;
    });
    window.addEventListener("beforeunload", (event) => {
        const isChosen = verdicts.some((each) => each.checked !== each.defaultChecked);
        if (!isSaving && (isChosen || comment.value.trim())) event.preventDefault();
    });
}

/* Who searches for another FAQ means it; select2 tells only jQuery of a choice. */
function setUpSearch() {
    const search = document.getElementById("id_another");
    if (!search) return;
    django.jQuery(search).on("select2:select", () => {
        document.getElementById("id_meant_another").checked = true;
    });
}

setUpKeys();
keepInput();
setUpSearch();
