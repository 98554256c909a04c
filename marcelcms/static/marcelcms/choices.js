// A box to choose from by typing stands in for a select, and takes its value along but not its name.

function nameBoxes() {
    for (const select of document.querySelectorAll("select.select2-hidden-accessible")) {
        const name = select.getAttribute("aria-label") || select.labels[0]?.textContent.trim().replace(/:$/, "");
        const box = select.nextElementSibling;
        if (!name || !box?.classList.contains("select2-container")) {
            continue;
        }
        for (const part of box.querySelectorAll('[role="combobox"], [role="textbox"]')) {
            part.setAttribute("aria-label", name);
        }
    }
}

addEventListener("load", nameBoxes);
document.addEventListener("formset:added", () => setTimeout(nameBoxes));
