// When something was said, in the reader's own time zone and language.

/** A plain "en" would give the American clock. */
const LOCALES: Readonly<Record<string, string>> = { en: "en-GB" };

export interface Moment {
  short: string;
  full: string;
}

/** Whether the browser has a clock of 12 hours, whatever the language. */
const usual = () => new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions().hour12 ?? false;

/** The day and the time by which something is to be expected; empty for what is no time. */
export function dueOf(iso: string, language: string, hour12 = usual()): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return "";
  const day: Intl.DateTimeFormatOptions = { weekday: "long", day: "numeric", month: "long" };
  const time: Intl.DateTimeFormatOptions = { hour: hour12 ? "numeric" : "2-digit", minute: "2-digit", hour12 };
  const locale = LOCALES[language] ?? language;
  return [day, time].map((part) => new Intl.DateTimeFormat(locale, part).format(moment)).join(", ");
}

const A_YEAR = 365 * 24 * 3_600_000;

/** The day "2026-03-03" in words, and whether that is more than a year ago; null for what is no day. */
export function ageOf(iso: string, language: string, now = Date.now()): { day: string; isOld: boolean } | null {
  const day = new Date(iso);
  if (Number.isNaN(day.getTime())) return null;
  const words = new Intl.DateTimeFormat(LOCALES[language] ?? language, { dateStyle: "long", timeZone: "UTC" });
  return { day: words.format(day), isOld: now - day.getTime() > A_YEAR };
}

/** Null for what is no time. */
export function momentOf(iso: string, language: string): Moment | null {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return null;
  const locale = LOCALES[language] ?? language;
  const today = moment.toDateString() === new Date().toDateString();
  const day: Intl.DateTimeFormatOptions = today ? {} : { day: "numeric", month: "short", year: "numeric" };
  return {
    short: new Intl.DateTimeFormat(locale, { ...day, hour: "2-digit", minute: "2-digit" }).format(moment),
    full: new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" }).format(moment),
  };
}
