// The field a question is typed into. Typed text is never lost: it is kept until the service has the question.

import { t } from "../words/words.ts";
import { el, focused, setAttribute, setText } from "./dom.ts";
import { icon } from "./icons.ts";

export interface ComposerActions {
  ask(text: string): void;
  stop(): void;
  typed(): void;
}

export interface ComposerState {
  ready: boolean;
  busy: boolean;
  stopping: boolean;
}

export class Composer {
  readonly element: HTMLFormElement;
  #limit: number;
  #actions: ComposerActions;
  #field: HTMLTextAreaElement;
  #send: HTMLButtonElement;
  #stop: HTMLButtonElement;
  #hint = el("p", { class: "composer__hint", id: "composer-hint", "data-test": "composer-hint", role: "status" });
  #counter = el("p", { class: "counter", "data-test": "counter", hidden: true });
  #composing = false;
  #state: ComposerState = { ready: false, busy: false, stopping: false };

  /** `problems` is shown above the field. */
  constructor({ limit, actions, problems }: { limit: number; actions: ComposerActions; problems: HTMLElement }) {
    this.#limit = limit;
    this.#actions = actions;
    this.#field = el("textarea", {
      id: "question",
      class: "composer__field",
      "data-test": "question",
      rows: 1,
      enterkeyhint: "send",
      dir: "auto",
      placeholder: t("placeholder"),
      "aria-describedby": "composer-hint composer-note",
      on: {
        compositionstart: () => (this.#composing = true),
        compositionend: () => (this.#composing = false),
        keydown: (event) => this.#key(event),
        input: () => {
          this.hint("");
          this.#changed();
        },
      },
    });
    const drawn = { class: "composer__button", "aria-label": t("send"), title: t("send") };
    this.#send = el("button", { ...drawn, type: "submit", "data-test": "send" }, icon("send"));
    const stopping = {
      class: "composer__button",
      "aria-label": t("stop"),
      title: t("stop"),
      on: { click: () => actions.stop() },
    };
    this.#stop = el("button", { ...stopping, type: "button", "data-test": "stop", hidden: true }, icon("stop"));
    const submitted = (event: Event) => {
      event.preventDefault();
      this.submit();
    };
    this.element = el(
      "form",
      { class: "composer", "data-test": "composer", autocomplete: "off", hidden: true, on: { submit: submitted } },
      problems,
      el("label", { class: "visually-hidden", for: "question" }, t("question")),
      el("div", { class: "composer__box" }, this.#field, this.#send, this.#stop),
      el("div", { class: "composer__below" }, this.#hint, this.#counter),
      el("p", { class: "composer__note", id: "composer-note" }, t("note")),
    );
  }

  get text(): string {
    return this.#field.value;
  }

  set text(value: string) {
    this.#field.value = value;
    this.#changed();
  }

  focus(): void {
    this.#field.focus({ preventScroll: true });
  }

  submit(): void {
    const text = this.text.trim();
    const over = [...text].length - this.#limit;
    if (!text) this.hint(t("hint_empty"), { wrong: true });
    else if (over > 0) this.hint(t("hint_too_long", { over, limit: this.#limit }), { wrong: true });
    else if (!this.#state.ready) this.hint(t("hint_offline"));
    else if (this.#state.busy) this.hint(t("hint_busy"));
    else {
      this.hint("");
      this.#actions.ask(text);
      return;
    }
    this.focus();
  }

  /** A gentle word below the field. */
  hint(text: string, { wrong = false } = {}): void {
    setText(this.#hint, text);
    setAttribute(this.#field, "aria-invalid", wrong ? "true" : null);
  }

  show(state: ComposerState): void {
    const { busy: wasBusy, ready: wasReady } = this.#state;
    this.#state = state;
    const now = focused();
    const pressed = this.element.contains(now) && now !== this.#field;
    this.#send.hidden = state.busy;
    this.#stop.hidden = !state.busy;
    setAttribute(this.#send, "disabled", !state.ready);
    setAttribute(this.#stop, "disabled", state.stopping);
    const hint = this.#hint.textContent;
    // What it says is over.
    if ((wasBusy && !state.busy && hint === t("hint_busy")) || (!wasReady && state.ready)) this.hint("");
    else if (wasReady && !state.ready && hint === t("hint_busy")) this.hint(t("hint_offline"));
    // The button that was pressed is gone: go on in the field, but do not call up a phone's keyboard for it.
    if (pressed && (wasBusy !== state.busy || state.stopping) && matchMedia("(hover: hover)").matches) this.focus();
  }

  /** The field as high as its text; to be called when its width changed too. */
  fit(): void {
    this.#field.style.setProperty("height", "auto");
    this.#field.style.setProperty("height", `${this.#field.scrollHeight + 2}px`);
  }

  #key(event: KeyboardEvent): void {
    const composing = event.isComposing || this.#composing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.submit();
  }

  #changed(): void {
    const length = [...this.text.trim()].length;
    const left = this.#limit - length;
    this.#counter.hidden = left > this.#limit * 0.1;
    setText(this.#counter, t("characters", { length, limit: this.#limit }));
    this.#counter.classList.toggle("counter--over", left < 0);
    this.fit();
    this.#actions.typed();
  }
}
