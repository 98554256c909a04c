// The panel in which staff copy what goes on their pages.

for (const panel of document.querySelectorAll(".snippet")) {
  const button = panel.querySelector("[data-copy]");
  const status = panel.querySelector("[data-copy-status]");
  const code = panel.querySelector("[data-snippet]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      status.textContent = button.dataset.copied;
    } catch {
      // No clipboard without https: the text is marked, to be copied by hand.
      getSelection().selectAllChildren(code);
    }
  });
}
