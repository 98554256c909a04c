// When something was said, in the reader's own time zone and language.

/** A plain "en" would give the American clock. */
const LOCALES: Readonly<Record<string, string>> = { en: "en-GB" };

export interface Moment {
  short: string;
  full: string;
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
