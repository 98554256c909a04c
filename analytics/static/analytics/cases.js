/* Inserts a suggestion into the reply, where the cursor is. */

{
    const reply = document.getElementById("id_reply");

    document.addEventListener("click", (event) => {
        const button = event.target.closest("[data-insert]");
        if (!button || !reply) return;
        const before = reply.value.slice(0, reply.selectionStart);
        const gap = before && !before.endsWith("\n\n") ? (before.endsWith("\n") ? "\n" : "\n\n") : "";
        reply.setRangeText(`${gap}${button.dataset.insert.trim()}\n`, reply.selectionStart, reply.selectionEnd, "end");
        reply.focus();
    });
}
