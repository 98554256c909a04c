"""Pictures in files that nothing reads: how large one must be to be told of, and what is said."""

import re
from collections.abc import Sequence

from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _

#: The share of a page that a picture of text has at least; smaller ones are logos and icons.
LARGE = 0.15
#: Square centimetres of A4.
PAGE_CM2 = 21.0 * 29.7
EMU_PER_CM = 360_000
CM = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(cm|mm|in|pt|pc|px)\s*")
NAMED = 12


def name_pages(pages: Sequence[int]) -> str:
    """Name the first pages of many."""
    return ", ".join(map(str, pages[:NAMED])) + (" …" if len(pages) > NAMED else "")


def remark_on_pages(unread: Sequence[int], *, of: int) -> list[Said]:
    text = _("on {count} of {of} pages a picture beside the text was not read: {pages}")
    return [Said(text, {"count": len(unread), "of": of, "pages": name_pages(unread)})] if unread else []


def remark_on_pictures(sizes: Sequence[float]) -> list[Said]:
    """Remark on the pictures of an office file, of which these are the sizes in square centimetres."""
    count = sum(size >= LARGE * PAGE_CM2 for size in sizes)
    text = _("large pictures in it were not read ({count}): if they show what students need, write it as text")
    return [Said(text, {"count": count})] if count else []


def size_in_emu(width: str | None, height: str | None) -> float:
    """Return the square centimetres of a size in English Metric Units, as Office writes them; 0 if it is none."""
    sides = [side for side in (width, height) if side and side.isdecimal() and len(side) < 12]
    return int(sides[0]) * int(sides[1]) / EMU_PER_CM**2 if len(sides) == 2 else 0.0


def size_in_words(width: str | None, height: str | None) -> float:
    """Return the square centimetres of a size such as 17cm and 3.5in; 0 if it is none."""
    sides = [found for side in (width, height) if side and (found := LENGTH.fullmatch(side))]
    return float(sides[0][1]) * CM[sides[0][2]] * float(sides[1][1]) * CM[sides[1][2]] if len(sides) == 2 else 0.0
