// Leads to the first field of a form that has to be corrected: in a long form it would stand far below.

const first = document.querySelector("#content .errorlist:not(.nonfield)");

if (first) {
    const row = first.closest("td, .fieldBox, .form-row");
    // What is wrong with all rows of a table stands above them.
    const fields = (row ?? first.closest("fieldset"))?.querySelectorAll("input, select, textarea, [contenteditable=true]");
    const field = [...(fields ?? [])].find(each => each.checkVisibility());
    // Other scripts of the admin put the focus into the first field while the page loads.
    window.addEventListener("load", () => {
        (row ?? first).scrollIntoView({ block: "center" });
        field?.focus({ preventScroll: true });
    });
}
