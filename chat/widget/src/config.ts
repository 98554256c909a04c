// What the script's tag says.

export interface Config {
  /** Where the script comes from, and where all requests go. */
  origin: string;
  site: string;
  /** "auto", or a language tag. */
  language: string;
  mode: "launcher" | "inline";
  /** A selector of the element that the inline mode fills. */
  target: string;
  theme: Theme;
  /** Only over SSE. */
  sse: boolean;
  /** In an iframe, whatever the browser could do. */
  frame: boolean;
  /** Of the script's tag, for a style sheet where there can be none without a tag. */
  nonce: string;
}

export type Theme = "auto" | "light" | "dark";

export function asTheme(value: unknown): Theme {
  return value === "light" || value === "dark" ? value : "auto";
}

export function readConfig(script: HTMLScriptElement): Config {
  const { site = "", lang = "auto", mode, target = "", theme, transport, frame } = script.dataset;
  return {
    origin: new URL(script.src).origin,
    site,
    language: lang,
    mode: mode === "inline" ? "inline" : "launcher",
    target,
    theme: asTheme(theme),
    sse: transport === "sse",
    frame: frame !== undefined,
    nonce: script.nonce,
  };
}
