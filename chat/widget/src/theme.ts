// Colours, from the page's custom properties or else from the site's settings, for light and dark.

import type { Theme } from "./config.ts";
import { palette, readColour, toHex, type Colour } from "./text/colours.ts";

const ACCENT: Colour = [29, 79, 124];
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Calls `changed` when the visitor's system turns light or dark. */
export function onSchemeChange(changed: () => void): void {
  DARK.addEventListener("change", changed);
}

/** Sets the colours on `root`; its custom properties are those of the page's <marcel-chat>. */
export function paint(root: HTMLElement, { accent, theme }: { accent: string; theme: Theme }): void {
  const dark = theme === "dark" || (theme === "auto" && DARK.matches);
  const chosen = ofPage(root, "--marcel-accent") ?? readColour(accent) ?? ACCENT;
  const colours = palette(chosen, { dark, text: ofPage(root, "--marcel-accent-text") });
  root.dataset["scheme"] = dark ? "dark" : "light";
  root.style.setProperty("--accent", toHex(colours.accent));
  root.style.setProperty("--accent-text", toHex(colours.accentText));
  root.style.setProperty("--accent-strong", toHex(colours.accentStrong));
  root.style.setProperty("--accent-soft", toHex(colours.accentSoft));
  root.style.setProperty("--link", toHex(colours.link));
}

/** The page's colour of that name as the browser understands it, or null. */
function ofPage(root: HTMLElement, name: string): Colour | null {
  if (!getComputedStyle(root).getPropertyValue(name).trim()) return null;
  const probe = document.createElement("i");
  probe.style.setProperty("color", `var(${name})`);
  root.append(probe);
  const colour = readColour(getComputedStyle(probe).color);
  probe.remove();
  return colour;
}

/** Where the launcher stands: the page's word, else the site's. */
export function positionOf(root: HTMLElement, site: "left" | "right"): "left" | "right" {
  const word = getComputedStyle(root).getPropertyValue("--marcel-position").trim();
  return word === "left" || word === "right" ? word : site;
}
