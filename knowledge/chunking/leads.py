"""The line that a passage goes on from, where the text was cut between a label and what stands under it; pure."""

import re

from knowledge.chunking.plain_text import make_plain

ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
#: What an item says before its first colon: “Nr.” in “Nr.: 1; Anzahl und Art: Klausur”.
LABEL = re.compile(r"(?P<label>[^:;]{1,90}):\s")
#: The longest line that is read as one that leads to what follows.
LONGEST_LEAD = 100


def find_lead(before: str, text: str) -> str:
    """Return the line at the end of `before` that leads to `text`, which follows it in its section, or nothing.

    The line ends with a colon. Where `text` goes on with a list that began in `before`, it is the line above that list.
    """
    lines = [line.strip() for line in before.rstrip().splitlines()]
    first = text.lstrip().partition("\n")[0]
    if lines and ITEM.match(first) and _are_alike(lines[-1], first):
        while lines and ITEM.match(lines[-1]):
            lines.pop()
        while lines and not lines[-1]:
            lines.pop()
    last = lines[-1] if lines else ""
    is_lead = last.endswith(":") and len(make_plain(last)) <= LONGEST_LEAD and not ITEM.match(last)
    return last if is_lead and not last.startswith(("|", "#", ">")) else ""


def _are_alike(one: str, other: str) -> bool:
    """Return whether two lines are items of one list: both without a label, or both with the same."""
    if not ITEM.match(one):
        return False
    labels = [found and found["label"] for found in (LABEL.match(ITEM.sub("", each, count=1)) for each in (one, other))]
    return labels[0] == labels[1]
