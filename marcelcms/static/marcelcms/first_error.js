// Leads to the first field of a form that has to be corrected: in a long form it would stand far below.

const first = document.querySelector("#content .errorlist:not(.nonfield)");

if (first) {
    const row = first.closest("td, .fieldBox, .form-row");
    // Other scripts of the admin put the focus into the first field while the page loads.
    window.addEventListener("load", () => {
        (row ?? first).scrollIntoView({ block: "center" });
        row?.querySelector("input:not([type=hidden]), select, textarea, [contenteditable=true]")?.focus({ preventScroll: true });
    });
}
