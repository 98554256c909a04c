// The button that opens and closes the chat, as it stands in the page or before a frame.

import { language, t } from "../words/words.ts";
import { el, setAttribute } from "./dom.ts";
import { icon } from "./icons.ts";

/** Draws it for the chat named `name`; `news`: there is something to read in it. Gives the drawing on it. */
export function drawLauncher(
  launcher: HTMLElement,
  { open, name, news }: { open: boolean; name: string; news: boolean },
): SVGElement {
  const opening = t("open_chat", { name });
  const label = open ? t("close_chat") : news ? `${opening}. ${t("new_reply")}` : opening;
  setAttribute(launcher, "lang", language());
  setAttribute(launcher, "aria-label", label);
  setAttribute(launcher, "title", label);
  setAttribute(launcher, "aria-expanded", String(open));
  const drawing = icon(open ? "close" : "chat");
  launcher.replaceChildren(drawing);
  if (news && !open) launcher.append(el("span", { class: "launcher__news", "aria-hidden": "true", "data-test": "news" }));
  return drawing;
}
