// Which addresses may become links. Everything else stays text.

/** The address, if it is a web page's, else null. */
export function webAddress(value: unknown): string | null {
  if (typeof value !== "string" || !/^https?:\/\//i.test(value.trim())) return null;
  try {
    const url = new URL(value.trim());
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

/** A mailto: link for a plain e-mail address, else null. */
export function mailAddress(value: unknown): string | null {
  return typeof value === "string" && /^[^\s@<>"?&%:/]+@[^\s@<>"?&%:/]+$/.test(value) ? `mailto:${value}` : null;
}

/**
 * A tel: link for one telephone number as people write them, else null: also for two numbers, or a number with words.
 * The zero of "+49 (0)6421" is not dialled.
 */
export function phoneAddress(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const dialled = value.trim().replace(/^(\+[\d\s]*)\(0\)/, "$1").replace(/[\s().\/-]/g, "");
  return /^\+?\d{2,15}$/.test(dialled) ? `tel:${dialled}` : null;
}

/** The host a reader would recognise: without www. */
export function hostOf(address: string): string {
  return new URL(address).hostname.replace(/^www\./, "");
}
