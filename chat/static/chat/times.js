// When something was said, in the reader's own time zone and language.

export function timeNode(iso) {
  const node = document.createElement("time");
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return node;
  // A plain "en" would give the American clock.
  const language = { en: "en-GB" }[document.documentElement.lang] ?? document.documentElement.lang;
  const today = moment.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: "numeric", month: "short", year: "numeric" };
  node.dateTime = iso;
  node.title = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" }).format(moment);
  node.textContent = new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit" }).format(moment);
  return node;
}
