// The widget's words in the visitor's language. A page has one widget, so there is one language at a time.

import { de } from "./de.ts";
import { en, type Words } from "./en.ts";

export type Language = "en" | "de";
export const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

const TABLES: Readonly<Record<Language, Words>> = { en, de };
let current: Language = "en";

type Values = Readonly<Record<string, string | number>>;

export function language(): Language {
  return current;
}

export function speak(chosen: Language): void {
  current = chosen;
}

/** "de-AT" is "de"; null for a language that the widget does not speak. */
export function spokenLanguage(tag: string | null | undefined): Language | null {
  const found = tag?.trim().toLowerCase().split(/[-_]/)[0] ?? "";
  return found in TABLES ? (found as Language) : null;
}

/** Those of an assistant's languages that the widget speaks too; all of its own where there is none. */
export function spokenBy(tags: readonly string[]): Language[] {
  const found = tags.map(spokenLanguage).filter((code) => code !== null);
  return found.length ? [...new Set(found)] : (Object.keys(LANGUAGES) as Language[]);
}

/** The language of a tag, if an assistant with these tags is spoken to in it, else null. */
export function offered(tag: unknown, tags: readonly string[]): Language | null {
  const wanted = typeof tag === "string" ? spokenLanguage(tag) : null;
  return wanted && spokenBy(tags).includes(wanted) ? wanted : null;
}

/** The words `key` with their {placeholders} filled; {day|days} is the one for a `count` of 1, or for another. */
export function t(key: keyof Words, values: Values = {}): string {
  return TABLES[current][key].replace(/\{([^|}]+)\|?([^}]*)\}/g, (whole, name: string, several: string) =>
    several ? (values.count === 1 ? name : several) : String(values[name] ?? whole),
  );
}
