"""Picture files, opened with care: their size is checked before anything of them is unpacked."""

import warnings
from typing import BinaryIO

from PIL import Image, ImageOps, UnidentifiedImageError

from knowledge.ingest.formats.types import BadFile, NoText
from knowledge.ingest.formats.types import gettext_noop as _

#: A page of A3 at 600 dpi has 70 million.
MOST_PIXELS = 100_000_000
#: Pixels of its sides; smaller ones are icons and portraits.
LEAST_SIDE, LEAST_PIXELS = 120, 60_000
#: A picture is looked at in so many shades of grey, so many pixels wide.
SHADES, LOOKED_AT = 32, 400
#: The share of a page that its ground covers: paper, however it is lit. A photograph has no shade that is so frequent.
GROUND = 0.35


def open_picture(file: BinaryIO) -> Image.Image:
    """Open a picture, still packed. Raises BadFile, NoText for one that is too small to show text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own limit is not ours
            picture = Image.open(file, formats=("PNG", "JPEG", "WEBP"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise BadFile(_("its picture is damaged ({error})"), error=type(error).__name__) from error
    width, height = picture.size
    if width * height > MOST_PIXELS:
        reason = _("it has {width} × {height} pixels; {limit} million are allowed")
        raise BadFile(reason, width=width, height=height, limit=MOST_PIXELS // 1_000_000)
    if min(width, height) < LEAST_SIDE or width * height < LEAST_PIXELS:
        raise NoText(
            _("it is a picture of {width} × {height} pixels, too small to show text"), width=width, height=height
        )
    return picture


def on_paper(picture: Image.Image, *, pixels: int) -> Image.Image:
    """Unpack a picture as it is to be looked at: upright, white where it is transparent, of at most so many pixels."""
    share = min(1.0, (pixels / (picture.width * picture.height)) ** 0.5)
    size = max(1, round(picture.width * share)), max(1, round(picture.height * share))
    picture.draft("RGB", size)  # a JPEG unpacks smaller at once
    picture = ImageOps.exif_transpose(picture)
    is_transparent = picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info
    picture = picture.convert("RGBA" if is_transparent else "RGB")
    picture.thumbnail((max(size), max(size)), Image.Resampling.LANCZOS)
    if is_transparent:
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    return picture


def is_photograph(picture: Image.Image) -> bool:
    """Return whether a picture has no ground of one shade, as paper and slides have; unpacks it."""
    grey = on_paper(picture, pixels=LOOKED_AT**2).convert("L")
    histogram = grey.histogram()
    # A shade and the next one: paper is not lit the same everywhere.
    width = 2 * 256 // SHADES
    most = max(sum(histogram[start : start + width]) for start in range(256 - width + 1))
    return most < GROUND * grey.width * grey.height
