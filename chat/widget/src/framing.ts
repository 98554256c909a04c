// The chat in an iframe of the service, where the page's browser or policy leaves no other way. Outside stands only the
// launcher, dressed property by property, which every policy allows; inside runs the same script, filling the frame.

import { isCommand, run, tell, type Commands } from "./commands.ts";
import type { Config } from "./config.ts";
import { palette, readColour, toHex } from "./text/colours.ts";
import type { AssistantInfo } from "./protocol.ts";
import { el } from "./view/dom.ts";
import { drawLauncher } from "./view/launcher.ts";
import { language, offered, speak } from "./words/words.ts";

const SMALL = matchMedia("(max-width: 40rem), (max-height: 30rem)");
const FALLBACK_ACCENT = [29, 79, 124] as const;

type Styles = Readonly<Record<string, string>>;

export class FramedChat implements Commands {
  #config: Config;
  #info: AssistantInfo;
  #frame: HTMLIFrameElement;
  #launcher: HTMLButtonElement | null = null;
  #news = false;
  /** What is inside can be told something. */
  #listening: Promise<void>;

  constructor(config: Config, info: AssistantInfo, place: Element) {
    this.#config = config;
    this.#info = info;
    const query = new URLSearchParams({ site: config.site, lang: language(), theme: config.theme });
    this.#frame = el("iframe", {
      src: `${config.origin}/widget/frame?${query}`,
      title: info.assistant.name,
      allow: "clipboard-write",
      "data-test": "frame",
    });
    this.#listening = new Promise((resolve) => {
      window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
        if (source !== this.#frame.contentWindow) return;
        resolve();
        const said = wordsOf(data);
        if (said[0] !== "news") return;
        this.#news = said[1] === true;
        this.#drawn();
      });
    });
    if (config.mode === "inline") {
      dressed(this.#frame, { border: "0", width: "100%", height: "100%", display: "block" });
      place.append(this.#frame);
      return;
    }
    this.#launcher = this.#makeLauncher();
    this.#frame.hidden = true;
    place.append(this.#launcher, this.#frame);
    SMALL.addEventListener("change", () => this.#dressFrame());
    this.#drawn();
  }

  open(): void {
    if (!this.#launcher || !this.#frame.hidden) return;
    this.#frame.hidden = false;
    this.#drawn();
    this.#pass("open");
    this.#frame.focus();
    tell("open");
  }

  close(): void {
    if (!this.#launcher || this.#frame.hidden) return;
    this.#frame.hidden = true;
    this.#drawn();
    this.#launcher.focus();
    tell("close");
  }

  setLocale(tag: unknown): void {
    const wanted = offered(tag, this.#info.assistant.languages);
    if (wanted) speak(wanted);
    this.#drawn();
    this.#pass("setLocale", tag);
  }

  reset(): void {
    this.#pass("reset");
  }

  theme(name: unknown): void {
    this.#pass("theme", name);
  }

  #pass(command: keyof Commands, value?: unknown): void {
    void this.#listening.then(() =>
      this.#frame.contentWindow?.postMessage({ marcelchat: [command, value] }, this.#config.origin),
    );
  }

  #makeLauncher(): HTMLButtonElement {
    const { accent, accentText } = palette(readColour(this.#info.theme.accent) ?? FALLBACK_ACCENT, {
      dark: false,
      text: null,
    });
    const press = () => (this.#frame.hidden ? this.open() : this.close());
    const launcher = el("button", { type: "button", "data-test": "launcher", on: { click: press } });
    dressed(launcher, {
      ...{ position: "fixed", bottom: "20px", [this.#info.theme.position]: "20px", width: "60px", height: "60px" },
      ...{ padding: "0", border: "0", "border-radius": "50%", cursor: "pointer", "z-index": "2147483001" },
      ...{ background: toHex(accent), color: toHex(accentText) },
    });
    return launcher;
  }

  #drawn(): void {
    if (!this.#launcher) return;
    const open = !this.#frame.hidden;
    dressed(drawLauncher(this.#launcher, { open, name: this.#info.assistant.name, news: this.#news }), {
      display: "inline-block",
      width: "28px",
      height: "28px",
      fill: "none",
      stroke: "currentcolor",
      "stroke-width": "1.8",
    });
    const dot = this.#launcher.querySelector("span");
    if (dot) {
      dressed(dot, {
        ...{ position: "absolute", top: "2px", right: "2px", width: "16px", height: "16px", "border-radius": "50%" },
        ...{ background: "#c2410c", border: "2px solid #ffffff", "box-sizing": "border-box" },
      });
    }
    this.#dressFrame();
  }

  #dressFrame(): void {
    const small = SMALL.matches;
    dressed(this.#frame, {
      ...{ position: "fixed", border: "0", "z-index": "2147483000", display: this.#frame.hidden ? "none" : "block" },
      ...{ bottom: "96px", [this.#info.theme.position]: small ? "0" : "20px" },
      ...{ width: small ? "100%" : "420px", "max-width": "100%" },
      ...{ height: small ? "calc(100% - 96px)" : "min(680px, calc(100% - 116px))" },
      ...{ "border-radius": small ? "0" : "16px", "box-shadow": "0 8px 40px rgb(0 0 0 / 25%)" },
    });
  }
}

function dressed(node: HTMLElement | SVGElement, styles: Styles): void {
  for (const [name, value] of Object.entries(styles)) node.style.setProperty(name, value, "important");
}

/** Inside the frame: the page around it may say what its own MarcelChat was told, and hears that it may. */
export function obeyParent(chat: Commands & { onNews: (are: boolean) => void }): void {
  if (window.parent === window) return;
  chat.onNews = (are) => tellParent("news", are);
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (event.source !== window.parent) return;
    const call = wordsOf(event.data);
    if (isCommand(call[0])) run(chat, call[0], call[1]);
  });
  tellParent();
}

/** The origin of the page around is not known; nothing of the conversation is said. */
function tellParent(...words: readonly unknown[]): void {
  window.parent.postMessage({ marcelchat: words }, "*");
}

function wordsOf(data: unknown): readonly unknown[] {
  const words = (data as { marcelchat?: unknown } | null)?.marcelchat;
  return Array.isArray(words) ? words : [];
}
