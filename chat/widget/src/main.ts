// Where the widget begins: reads its script tag, waits for the page, gets to know the assistant, and stands up.

import { listen, tell } from "./commands.ts";
import { readConfig, type Config } from "./config.ts";
import { MarcelChat } from "./element.ts";
import { FramedChat, obeyParent } from "./framing.ts";
import { Http, Problem } from "./net/http.ts";
import type { AssistantInfo } from "./protocol.ts";
import { canDress } from "./style/sheet.ts";
import { language, speak, spokenLanguage, t } from "./words/words.ts";

const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 60_000;

/** After the page itself: a launcher can wait until all of it is loaded, a chat in the page until its place is there. */
function whenReady(config: Config): Promise<void> {
  const [state, event] =
    config.mode === "inline" ? (["interactive", "DOMContentLoaded"] as const) : (["complete", "load"] as const);
  if (document.readyState === "complete" || document.readyState === state) return Promise.resolve();
  return new Promise((resolve) => {
    window.addEventListener(event, () => resolve(), { once: true });
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks until there is an answer; `failed` is called before each new try. Null where the service refuses this site. */
async function getToKnow(http: Http, site: string, failed: () => void): Promise<AssistantInfo | null> {
  for (let wait = FIRST_WAIT; ; wait = Math.min(LONGEST_WAIT, wait * 2)) {
    try {
      return await http.get<AssistantInfo>("AssistantInfo", `/api/v1/assistant?site=${encodeURIComponent(site)}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status >= 400 && error.status < 500 && error.status !== 429) {
        console.error(`MarcelChat: ${error.detail || `the service refused (${error.status})`}`);
        return null;
      }
      failed();
      await pause(wait + Math.random() * wait);
    }
  }
}

/** The logo's address on the service itself; nothing is asked of anybody else. */
function ownLogo(logo: string, origin: string): string {
  const address = logo ? new URL(logo, origin) : null;
  return address?.origin === origin ? address.href : "";
}

function placeOf(config: Config): Element {
  if (config.mode === "launcher") return document.body;
  const found = config.target ? document.querySelector(config.target) : null;
  if (!found) throw new Error(`MarcelChat: data-target ${JSON.stringify(config.target)} names no element`);
  return found;
}

async function main(script: HTMLScriptElement): Promise<void> {
  const config = readConfig(script);
  await whenReady(config);
  const wished = [config.language, document.documentElement.lang, ...navigator.languages].map(spokenLanguage);
  speak(wished.find((code) => code !== null) ?? "en");
  const place = placeOf(config);
  const http = new Http(config.origin, language);
  const info = await getToKnow(http, config.site, () => {
    if (config.mode === "inline") place.textContent = t("load_failed");
  });
  if (!info) return;
  info.theme.logo = ownLogo(info.theme.logo, config.origin);
  if (config.mode === "inline") place.replaceChildren();
  const inside = window.parent !== window && location.origin === config.origin;
  const framed = !inside && (config.frame || !("attachShadow" in Element.prototype) || !canDress());
  if (framed) {
    listen(new FramedChat(config, info, place));
  } else {
    const chat = new MarcelChat();
    place.append(chat);
    chat.start({ config, info, http });
    listen(chat);
    if (inside) obeyParent(chat);
  }
  tell("ready");
}

const script = document.currentScript;
if (customElements.get("marcel-chat")) {
  console.warn("MarcelChat: a page has one chat, this tag is ignored", script);
} else if (script instanceof HTMLScriptElement) {
  customElements.define("marcel-chat", MarcelChat);
  void main(script);
}
