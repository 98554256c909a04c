// A box to choose from by typing stands in for a select, and takes its value along but not its name.

function nameBox(box) {
    const select = box.previousElementSibling;
    const name = select?.getAttribute("aria-label") || select?.labels?.[0]?.textContent.trim().replace(/:$/, "");
    if (!name) {
        return;
    }
    for (const part of box.querySelectorAll('[role="combobox"], [role="textbox"]')) {
        part.setAttribute("aria-label", name);
    }
}

// Boxes come when jQuery gets to it, which may be after the page's load, and with each row that is added.
new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
        if (node instanceof Element && node.matches(".select2-container")) {
            nameBox(node);
        }
    }
}).observe(document.body, { childList: true, subtree: true });
