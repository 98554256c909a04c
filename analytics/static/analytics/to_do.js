/* Ticks all rows of the page at once. */

const all = document.querySelector("[data-all]");
const rows = [...document.querySelectorAll("[name=item]")];

function show() {
    const ticked = rows.filter((row) => row.checked).length;
    all.checked = ticked === rows.length;
    all.indeterminate = ticked > 0 && ticked < rows.length;
}

if (all) {
    all.hidden = false;
    all.addEventListener("change", () => {
        for (const row of rows) row.checked = all.checked;
    });
    for (const row of rows) row.addEventListener("change", show);
    show(); // the browser may have kept ticks over a reload
}
