"""Pictures on a page: what they cover, and large ones that stand beside text and that nothing reads; pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from pdfminer.layout import LTImage

from knowledge.ingest.formats.pictures import LARGE
from knowledge.ingest.pdf.types import LETTERS, Char, Page

#: Fewer pixels show no text: a gradient, a single colour.
LEGIBLE_PIXELS = 10_000
#: Points between strips of one picture.
GAP = 1.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture covers of its page; the same picture has the same `key` wherever it stands."""

    x0: float
    x1: float
    top: float
    bottom: float
    pixels: int
    key: str

    @property
    def area(self) -> float:
        return max(0.0, self.x1 - self.x0) * max(0.0, self.bottom - self.top)

    def holds(self, char: Char) -> bool:
        x, y = (char.x0 + char.x1) / 2, (char.top + char.bottom) / 2
        return self.x0 <= x <= self.x1 and self.top <= y <= self.bottom and not char.text.isspace()


def clip_picture(image: LTImage, width: float, height: float, left: float, above: float) -> Picture:
    """Clip a picture to its page, of which `left` and `above` are the edges in the file's coordinates."""
    pixels = 1
    for side in image.srcsize:
        pixels *= side if isinstance(side, int) else 1
    x0, x1 = max(0.0, image.x0 + left), min(width, image.x1 + left)
    top, bottom = max(0.0, above - image.y1), min(height, above - image.y0)
    content = image.stream.get_rawdata() if (x1 - x0) * (bottom - top) >= LARGE * width * height else None
    key = blake2b(content, digest_size=8).hexdigest() if content else f"{x0:.0f} {top:.0f} {x1:.0f} {bottom:.0f}"
    return Picture(x0, x1, top, bottom, pixels, key)


def measure_pictures(page: Page, pictures: Sequence[Picture], chars: Sequence[Char]) -> None:
    """Note what pictures cover of a page and say on it; `chars` are the letters that the file itself has there."""
    if not pictures:
        return
    whole = page.width * page.height
    page.pictures = min(1.0, sum(picture.area for picture in pictures) / whole)
    page.on_pictures = sum(any(picture.holds(char) for picture in pictures) for char in chars)
    page.unread = tuple(
        picture.key
        for picture in _join_strips(pictures)
        if picture.area >= LARGE * whole
        and picture.pixels >= LEGIBLE_PIXELS
        and sum(map(picture.holds, chars)) < LETTERS
    )


def find_unread(pages: Iterable[Page]) -> list[int]:
    """List the pages with a large picture beside text that was not read; what most pages have is a logo or backdrop."""
    count, seen, found = 0, Counter[str](), {}
    for page in pages:
        count += 1
        seen.update(set(page.unread))
        if page.unread and not page.is_picture and not page.is_recognised:
            found[page.number] = page.unread
    repeated = {key for key, times in seen.items() if times > 1 and 2 * times > count}
    return [number for number, keys in found.items() if set(keys) - repeated]


def _join_strips(pictures: Sequence[Picture]) -> list[Picture]:
    """Join the strips, one below the other, that some programs cut a picture into."""
    joined: list[Picture] = []
    for picture in sorted(pictures, key=lambda picture: (round(picture.x0), round(picture.x1), picture.top)):
        last = joined[-1] if joined else None
        is_next = last is not None and abs(last.bottom - picture.top) <= GAP
        if last and is_next and abs(last.x0 - picture.x0) <= GAP and abs(last.x1 - picture.x1) <= GAP:
            joined[-1] = replace(last, bottom=picture.bottom, pixels=last.pixels + picture.pixels)
        else:
            joined.append(picture)
    return joined
