// The button that opens and closes the chat, as it stands in the page or before a frame.

import { language, t } from "../words/words.ts";
import { setAttribute } from "./dom.ts";
import { icon } from "./icons.ts";

/** Draws it for the chat named `name`; gives the drawing on it. */
export function drawLauncher(launcher: HTMLElement, { open, name }: { open: boolean; name: string }): SVGElement {
  const label = open ? t("close_chat") : t("open_chat", { name });
  setAttribute(launcher, "lang", language());
  setAttribute(launcher, "aria-label", label);
  setAttribute(launcher, "title", label);
  setAttribute(launcher, "aria-expanded", String(open));
  const drawing = icon(open ? "close" : "chat");
  launcher.replaceChildren(drawing);
  return drawing;
}
