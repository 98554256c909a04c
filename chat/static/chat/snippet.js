// A panel in which staff copy a text: the code for their pages, a link for a colleague.

for (const panel of document.querySelectorAll(".snippet")) {
  const button = panel.querySelector("[data-copy]");
  const status = panel.querySelector("[data-copy-status]");
  const code = panel.querySelector("[data-snippet]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.value ?? code.textContent);
      status.textContent = button.dataset.copied;
    } catch {
      // No clipboard without https: the text is marked, to be copied by hand.
      if (code.select) code.select();
      else getSelection().selectAllChildren(code);
    }
  });
}
