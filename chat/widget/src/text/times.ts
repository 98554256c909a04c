// When something was said, in the reader's own time zone and language.

import type { Appointment } from "../protocol.ts";

/** A plain "en" would give the American clock. */
const LOCALES: Readonly<Record<string, string>> = { en: "en-GB" };

export interface Moment {
  short: string;
  full: string;
}

/** By when an office means to reply, on the office's own clock, as its opening hours are; empty for what is no time. */
export function dueOf(iso: string, language: string): string {
  const moment = new Date(`${iso.slice(0, 19)}Z`);
  if (Number.isNaN(moment.getTime())) return "";
  const parts: Intl.DateTimeFormatOptions[] = [
    { weekday: "long", day: "numeric", month: "long" },
    { hour: "2-digit", minute: "2-digit" },
  ];
  const locale = LOCALES[language] ?? language;
  return parts.map((part) => new Intl.DateTimeFormat(locale, { ...part, timeZone: "UTC" }).format(moment)).join(", ");
}

const A_YEAR = 365 * 24 * 3_600_000;

/** The day "2026-03-03" in words, and whether that is more than a year ago; null for what is no day. */
export function ageOf(iso: string, language: string, now = Date.now()): { day: string; isOld: boolean } | null {
  const day = new Date(iso);
  if (Number.isNaN(day.getTime())) return null;
  const words = new Intl.DateTimeFormat(LOCALES[language] ?? language, { dateStyle: "long", timeZone: "UTC" });
  return { day: words.format(day), isOld: now - day.getTime() > A_YEAR };
}

/** A date or span in words, with its times as they are where the assistant is; opening hours by their weekdays. */
export function dateOf({ begin, end = "", days = [] }: Pick<Appointment, "begin" | "end" | "days">, language: string): string {
  const locale = LOCALES[language] ?? language;
  const timed = begin.includes("T");
  const form = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
  if (!timed) return form({ dateStyle: "medium" }).formatRange(new Date(begin), new Date(end || begin));
  const [from, to] = [new Date(`${begin}Z`), new Date(`${end || begin}Z`)] as const;
  const time = form({ hour: "2-digit", minute: "2-digit" }).formatRange(from, to);
  if (!days.length) return `${form({ dateStyle: "medium" }).format(from)}, ${time}`;
  // 5 January 2026 was a Monday.
  const weekday = (day: string) =>
    form({ weekday: "short" }).format(Date.UTC(2026, 0, 5 + "MOTUWETHFRSASU".indexOf(day) / 2));
  const [first = "", last = first] = [days[0], days.at(-1)];
  return `${weekday(first)}${last === first ? "" : `–${weekday(last)}`}, ${time}`;
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
