// The field a question is typed into. Typed text is never lost: it is kept until the server has the question.

import { setAttribute } from "./dom.js";
import { t } from "./strings.js";

export class Composer {
  #form;
  #field;
  #send;
  #stop;
  #hint;
  #counter;
  #limit;
  #composing = false;
  #state = { ready: false, busy: false, stopping: false };
  #on;

  /** `on`: ask(text), stop(), typed(text). */
  constructor({ form, limit, on }) {
    this.#form = form;
    this.#field = form.querySelector("textarea");
    this.#send = form.querySelector("[data-test=send]");
    this.#stop = form.querySelector("[data-test=stop]");
    this.#hint = form.querySelector("[data-test=composer-hint]");
    this.#counter = form.querySelector("[data-test=counter]");
    this.#limit = limit;
    this.#on = on;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.#stop.addEventListener("click", () => on.stop());
    this.#field.addEventListener("compositionstart", () => (this.#composing = true));
    this.#field.addEventListener("compositionend", () => (this.#composing = false));
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.addEventListener("input", () => {
      this.hint("");
      this.#changed();
    });
  }

  get text() {
    return this.#field.value;
  }

  set text(value) {
    this.#field.value = value;
    this.#changed();
  }

  focus() {
    this.#field.focus({ preventScroll: true });
  }

  submit() {
    const text = this.text.trim();
    const over = [...text].length - this.#limit;
    if (!text) this.hint(t("hint_empty"), { wrong: true });
    else if (over > 0) this.hint(t("hint_too_long", { over, limit: this.#limit }), { wrong: true });
    else if (this.#state.busy) this.hint(t("hint_busy"));
    else if (!this.#state.ready) this.hint(t("hint_offline"));
    else {
      this.hint("");
      this.#on.ask(text);
      return;
    }
    this.focus();
  }

  /** A gentle word below the field. */
  hint(text, { wrong = false } = {}) {
    if (this.#hint.textContent !== text) this.#hint.textContent = text;
    setAttribute(this.#field, "aria-invalid", wrong ? "true" : null);
  }

  show(state) {
    const wasBusy = this.#state.busy;
    this.#state = state;
    const focused = this.#form.contains(document.activeElement) && document.activeElement !== this.#field;
    this.#send.hidden = state.busy;
    this.#stop.hidden = !state.busy;
    setAttribute(this.#send, "disabled", !state.ready);
    setAttribute(this.#stop, "disabled", state.stopping);
    if (wasBusy && !state.busy && this.#hint.textContent === t("hint_busy")) this.hint("");
    // The button that was pressed is gone: go on in the field, but do not call up a phone's keyboard for it.
    if (focused && (wasBusy !== state.busy || state.stopping) && matchMedia("(hover: hover)").matches) this.focus();
  }

  #key(event) {
    const composing = event.isComposing || this.#composing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.submit();
  }

  #changed() {
    const length = [...this.text.trim()].length;
    const left = this.#limit - length;
    this.#counter.hidden = left > this.#limit * 0.1;
    this.#counter.textContent = t("characters", { length, limit: this.#limit });
    this.#counter.classList.toggle("counter--over", left < 0);
    this.#field.style.height = "auto";
    this.#field.style.height = `${this.#field.scrollHeight + 2}px`;
    this.#on.typed(this.text);
  }
}
