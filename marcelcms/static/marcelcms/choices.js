// Names what the admin's scripts draw without one: a box to choose from by typing takes its select's value along but
// not its name, and the magnifying glass of a list that can be filtered has a name but no role.

const BOX = ".select2-container";
const PARTS = '[role="combobox"], [role="textbox"], .select2-search__field';
const GLASS = ".help-tooltip[aria-label]";

function nameBox(box) {
    const select = box.previousElementSibling;
    const name = select?.getAttribute("aria-label") || select?.labels?.[0]?.textContent.trim().replace(/:$/, "");
    if (!name) {
        return;
    }
    for (const part of box.querySelectorAll(PARTS)) {
        part.setAttribute("aria-label", name);
    }
}

// They come when jQuery gets to it, which may be after the page's load, and with each row that is added.
new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
        if (!(node instanceof Element)) {
            continue;
        }
        for (const each of [node, ...node.querySelectorAll(`${BOX}, ${GLASS}`)]) {
            if (each.matches(BOX)) {
                nameBox(each);
            } else if (each.matches(GLASS)) {
                each.setAttribute("role", "img");
            }
        }
    }
}).observe(document.body, { childList: true, subtree: true });
