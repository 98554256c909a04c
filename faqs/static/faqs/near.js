// Looks up FAQs close to what is typed, and shows what the server says of them; saving waits for none of it.
"use strict";
{
  const PAUSE_MS = 600;

  function start() {
    const place = document.getElementById("near");
    const question = document.getElementById("id_question");
    if (!place || !question) return;
    const form = question.form;
    let timer = 0;
    let pending = null;

    async function look() {
      pending?.abort();
      pending = new AbortController();
      try {
        const reply = await fetch(place.dataset.url, {
          method: "POST",
          body: new FormData(form),
          signal: pending.signal,
          credentials: "same-origin",
        });
        // The server's own markup; what staff wrote is escaped in it.
        if (reply.ok) place.innerHTML = await reply.text();
      } catch (error) {
        if (error.name !== "AbortError") place.replaceChildren();
      }
    }

    function soon() {
      clearTimeout(timer);
      timer = setTimeout(look, PAUSE_MS);
    }

    question.addEventListener("input", soon);
    for (const name of ["language", "valid_from", "valid_until"]) {
      form.elements[name]?.addEventListener("change", soon);
    }
    if (question.value) look();
  }

  document.addEventListener("DOMContentLoaded", start);
}
