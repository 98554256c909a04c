"""Takes from the text of a mail what its sender wrote now: without quoted mails and signatures.

Rules of our own, line by line, in linear time: libraries for it (mail-parser-reply among them) match whole mails with
expressions that take minutes for a text that is made for that.
"""

import re

#: Behind these nothing is the sender's own.
ENDS = re.compile(
    r"-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|original-?nachricht"
    r"|weitergeleitete nachricht)\s*-{2,}|begin forwarded message:|anfang der weitergeleiteten nachricht:",
    re.IGNORECASE,
)
#: The beginning of a quoted mail's headers, as Outlook writes them, and those of which two follow.
FROM = re.compile(r"\*?(?:from|von)\s?:\*?\s", re.IGNORECASE)
SENT = re.compile(r"\*?(?:sent|date|to|cc|subject|gesendet|datum|an|betreff)\s?:\*?\s", re.IGNORECASE)
#: “On … wrote:”, which may be broken into three lines.
WROTE = re.compile(r"(?:on|am)\b.*\b(?:wrote|schrieb)\b.*:", re.IGNORECASE)
BEGINS = re.compile(r"(?:on|am)\b", re.IGNORECASE)
ADDED = re.compile(
    r"(?:sent from my|get outlook for|sent from outlook|von meinem .{1,40} gesendet|gesendet mit der|gesendet von mein"
    r"|diese nachricht wurde von meinem).{0,120}",
    re.IGNORECASE,
)
#: Longer lines are no attribution.
LINE = 300


def new_text(text: str) -> str:
    """Return the sender's own lines of a mail; empty if there are none."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if ENDS.fullmatch(line) or lines[at] == "--" or _is_header(lines, at):
            break
        if attribution := _attribution(lines, at):
            at += attribution
            if not _quote_follows(lines, at):
                break
            continue
        if not line.startswith(">"):
            kept.append(lines[at])
        at += 1
    while kept and (not kept[-1].strip() or ADDED.fullmatch(kept[-1].strip()[:LINE]) or _is_rule(kept[-1])):
        kept.pop()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _is_header(lines: list[str], at: int) -> bool:
    following = lines[at + 1 : at + 5]
    return bool(FROM.match(lines[at].strip())) and sum(1 for each in following if SENT.match(each.strip())) > 1


def _attribution(lines: list[str], at: int) -> int:
    """Return how many lines say who wrote what is quoted below; 0 if none do."""
    first = lines[at].strip()
    if BEGINS.match(first):
        for count in (1, 2, 3):
            joined = " ".join(line.strip() for line in lines[at : at + count])
            if len(joined) <= LINE and WROTE.fullmatch(joined):
                return count
    # In other languages: a line that ends in a colon and names an address or a year, right above a quote.
    is_one = first.endswith(":") and len(first) <= LINE and ("@" in first or re.search(r"\b20\d\d\b", first))
    return 1 if is_one and _quote_follows(lines, at + 1) else 0


def _quote_follows(lines: list[str], at: int) -> bool:
    following = next((line.strip() for line in lines[at : at + 3] if line.strip()), "")
    return following.startswith(">")


def _is_rule(line: str) -> bool:
    return len(line.strip()) >= 20 and not line.strip().strip("_-")
