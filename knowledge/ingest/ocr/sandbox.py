"""`python -m knowledge.ingest.ocr.sandbox SETTINGS`: reads pages of the PDF, or the picture, on standard input under
limits that end this process.

One JSON value a line: `{"ready"}` when the models are loaded, then for each page `{"page", "lines"}` or
`{"page", "bad", "values"}`.
"""

import json
import logging
import os
import resource
import sys
import warnings
from typing import TYPE_CHECKING, Any

from knowledge.ingest.formats.types import BadFile
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.ocr.types import ReadLine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from knowledge.ingest.ocr.engine import Engine

#: Pages of more pixels than an A4 page and a half are rendered coarser.
DPI, PIXELS = 170, 4_200_000


def main() -> int:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    memory: int = settings["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    os.nice(10)  # answers come first
    sys.addaudithook(refuse_network)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    from knowledge.ingest.ocr.engine import Engine

    engine = Engine()
    say({"ready": True})
    for page in settings["pages"]:
        limit_seconds(settings["page_cpu_seconds"])
        try:
            lines = read_page(engine, page)
        except BadFile as bad:
            say({"page": page, "bad": bad.reason.template, "values": bad.reason.values})
        except MemoryError:
            limit = memory // 1_000_000
            say(
                {"page": page, "bad": _("its picture needs more than {limit} MB of memory"), "values": {"limit": limit}}
            )
        except Exception as error:
            damaged = _("its picture is damaged ({error})")
            say({"page": page, "bad": damaged, "values": {"error": type(error).__name__}})
        else:
            say({"page": page, "lines": lines})
    return 0


def limit_seconds(seconds: int) -> None:
    """End this process if the next page takes more of its time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def read_page(engine: "Engine", number: int) -> list[ReadLine]:
    """Read a page, which counts from 1; a picture has one."""
    file = sys.stdin.buffer
    file.seek(0)
    is_pdf = b"%PDF-" in file.read(1024)
    file.seek(0)
    return _read_pdf_page(engine, number) if is_pdf else engine.read(_unpack_picture())


def _unpack_picture() -> "NDArray[np.uint8]":
    import numpy as np

    from knowledge.ingest.formats.picture_files import on_paper, open_picture

    try:
        picture = on_paper(open_picture(sys.stdin.buffer), pixels=PIXELS)
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadFile(_("its picture is damaged ({error})"), error=type(error).__name__) from error
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])


def _read_pdf_page(engine: "Engine", number: int) -> list[ReadLine]:
    import pypdfium2

    # Opened for each page: PDFium keeps every picture that it has unpacked.
    with pypdfium2.PdfDocument(sys.stdin.buffer) as document:
        page = document[number - 1]
        width, height = page.get_size()
        bitmap = page.render(scale=min(DPI / 72, (PIXELS / (width * height)) ** 0.5))
        picture = bitmap.to_numpy().copy()
        bitmap.close()
        lines = engine.read(picture)
        if not lines:
            check_pictures(page)
    return lines


def check_pictures(page: Any) -> None:
    """Tell a picture that PDFium leaves out from one without text; raises BadFile."""
    from pypdfium2 import PdfiumError
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    for picture in page.get_objects(filter=(FPDF_PAGEOBJ_IMAGE,)):
        try:
            picture.get_bitmap().close()
        except PdfiumError:
            width, height = picture.get_px_size()
            reason = _("its picture of {width} × {height} pixels is damaged or too large")
            raise BadFile(reason, width=width, height=height) from None


def refuse_network(event: str, _arguments: object) -> None:
    """Refuse every connection: nothing is downloaded, whatever a library would like."""
    if event.startswith("socket.") and event not in {"socket.__new__", "socket.gethostname"}:
        raise PermissionError("pictures are read without a network")


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
