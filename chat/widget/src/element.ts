// <marcel-chat>: a launcher with its window, or a chat that fills its place. Everything is in a shadow root: the page's
// styles do not reach in, and the widget's do not reach out.

import { App } from "./app.ts";
import { tell, type Commands } from "./commands.ts";
import { asTheme, type Config, type Theme } from "./config.ts";
import type { Http } from "./net/http.ts";
import type { AssistantInfo } from "./protocol.ts";
import { dress } from "./style/sheet.ts";
import { onSchemeChange, paint, positionOf } from "./theme.ts";
import { el, setAttribute } from "./view/dom.ts";
import { drawLauncher } from "./view/launcher.ts";

/** Where the window covers the whole screen. */
const SMALL = matchMedia("(max-width: 40rem), (max-height: 30rem)");
const FOCUSABLE = "a[href], button:not(:disabled), textarea, input, [tabindex='0']";

export class MarcelChat extends HTMLElement implements Commands {
  /** Called when there is something to read, or no more, while the chat is closed. */
  onNews: (are: boolean) => void = () => {};
  #root = el("div", { class: "root", dir: "ltr" });
  #panel = el("div", { class: "panel", "data-test": "panel", "aria-labelledby": "name" });
  #launcher: HTMLButtonElement | null = null;
  #app: App | null = null;
  #info: AssistantInfo | null = null;
  #theme: Theme = "auto";
  #news = false;

  /** Shows the assistant; once. */
  start({ config, info, http }: { config: Config; info: AssistantInfo; http: Http }): void {
    this.#info = info;
    this.#theme = config.theme;
    const shadow = this.attachShadow({ mode: "open" });
    dress(shadow, config.nonce);
    shadow.append(this.#root);
    const inline = config.mode === "inline";
    this.dataset["mode"] = config.mode;
    this.#root.dataset["mode"] = config.mode;
    this.#root.dataset["position"] = positionOf(this.#root, info.theme.position);
    const close = inline ? null : () => this.close();
    this.#app = new App({ config, info, http, place: this.#panel, close, news: (are) => this.#showNews(are) });
    this.#root.append(this.#panel);
    this.#panel.addEventListener("keydown", (event) => this.#key(event));
    this.#paint();
    onSchemeChange(() => this.#paint());
    if (inline) {
      setAttribute(this.#panel, "role", "region");
      this.#app.shown({ focus: false });
    } else {
      this.#makeLauncher();
    }
  }

  open(): void {
    // In a frame that was shown: what is new in it is seen.
    if (!this.#launcher) this.#app?.shown({ focus: false });
    if (!this.#launcher || !this.#panel.hidden) return;
    this.#panel.hidden = false;
    this.#drawLauncher();
    this.#fitScreen();
    this.#app?.shown({ focus: true });
    tell("open");
  }

  close(): void {
    if (!this.#launcher || this.#panel.hidden) return;
    this.#panel.hidden = true;
    this.#drawLauncher();
    this.#launcher.focus({ preventScroll: true });
    tell("close");
  }

  setLocale(tag: unknown): void {
    this.#app?.setLanguage(tag);
    this.#drawLauncher();
  }

  reset(): void {
    this.#app?.reset();
  }

  theme(name: unknown): void {
    this.#theme = asTheme(name);
    this.#paint();
  }

  #paint(): void {
    if (this.#info) paint(this.#root, { accent: this.#info.theme.accent, theme: this.#theme });
  }

  // --- the launcher and its window ---

  #makeLauncher(): void {
    const press = () => (this.#panel.hidden ? this.open() : this.close());
    this.#launcher = el("button", {
      type: "button",
      class: "launcher",
      "data-test": "launcher",
      "aria-haspopup": "dialog",
      on: { click: press },
    });
    this.#root.prepend(this.#launcher);
    setAttribute(this.#panel, "role", "dialog");
    this.#panel.hidden = true;
    const fit = () => this.#fitScreen();
    SMALL.addEventListener("change", fit);
    window.visualViewport?.addEventListener("resize", fit);
    window.visualViewport?.addEventListener("scroll", fit);
    this.#drawLauncher();
  }

  #drawLauncher(): void {
    if (!this.#launcher) return;
    const open = !this.#panel.hidden;
    drawLauncher(this.#launcher, { open, name: this.#info?.assistant.name ?? "", news: this.#news });
    this.#root.dataset["open"] = String(open);
  }

  #showNews(are: boolean): void {
    if (are === this.#news) return;
    this.#news = are;
    this.#drawLauncher();
    this.onNews(are);
  }

  /** On a small screen the window covers what the on-screen keyboard leaves, and nothing behind it can be used. */
  #fitScreen(): void {
    const full = SMALL.matches;
    setAttribute(this.#panel, "aria-modal", full ? "true" : null);
    const view = window.visualViewport;
    if (this.#panel.hidden || !full || !view) return;
    this.#root.style.setProperty("--screen-top", `${view.offsetTop}px`);
    this.#root.style.setProperty("--screen-height", `${view.height}px`);
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape" && !event.isComposing) {
      const wentBack = this.#app?.back();
      // Where the chat stands in the page, a key that does nothing here is the page's.
      if (wentBack || this.#launcher) event.stopPropagation();
      if (!wentBack) this.close();
    } else if (event.key === "Tab" && SMALL.matches && this.#launcher) {
      this.#keepFocus(event);
    }
  }

  #keepFocus(event: KeyboardEvent): void {
    const all = [...this.#panel.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (element) => element.getClientRects().length > 0,
    );
    const [first, last] = event.shiftKey ? [all.at(-1), all[0]] : [all[0], all.at(-1)];
    if (this.shadowRoot?.activeElement !== last) return;
    event.preventDefault();
    first?.focus();
  }
}
