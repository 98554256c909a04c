// What a link may lead to: the same addresses that the server makes links of.

const SCHEMES = /^(https?:\/\/|mailto:)/i;

export function isSafeLink(address: string): boolean {
  return SCHEMES.test(address);
}

/** Return the address as it is to be written, or "" if it is none; what begins like a host gets `https://`. */
export function checkAddress(typed: string): string {
  const address = typed.trim();
  const full = /^[\w-]+(\.[\w-]+)+([/?#].*)?$/.test(address) ? `https://${address}` : address;
  if (!isSafeLink(full) || /[\s<>]/.test(full)) return "";
  try {
    const { protocol, hostname } = new URL(full);
    return hostname || protocol === "mailto:" ? full : "";
  } catch {
    return "";
  }
}
