"""`python -m knowledge.ingest.pdf.sandbox LIMITS`: reads the PDF on standard input under limits that end this process.

One JSON value a line: `{"page", "of"}` after every page, then `{"text"}` or `{"bad", "values", "page"}`.
"""

import json
import logging
import resource
import sys
from typing import Any

from knowledge.ingest.pdf.types import BadPdf, Limits
from knowledge.ingest.pdf.types import gettext_noop as _

#: How deep page trees and forms may be nested.
DEPTH = 2_000


def main() -> int:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    use_bookmarks = settings.pop("use_bookmarks", True)
    limits = Limits(**settings)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.total_seconds, limits.total_seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.setrecursionlimit(DEPTH)
    logging.disable(logging.CRITICAL)  # pdfminer warns of much that does no harm
    seen = [0]

    def progress(page: int, of: int) -> None:
        seen[0] = page
        say({"page": page, "of": of})

    from knowledge.ingest.pdf.document import read_document

    try:
        text = read_document(sys.stdin.buffer, limits=limits, progress=progress, use_bookmarks=use_bookmarks)
        say({"text": text.to_wire()})
    except BadPdf as bad:
        say({"bad": bad.reason.template, "values": bad.reason.values, "page": bad.page})
    except MemoryError:
        memory = {"limit": limits.memory_bytes // 1_000_000}
        say({"bad": _("unpacked it needs more than {limit} MB of memory"), "values": memory, "page": seen[0] + 1})
    except RecursionError:
        say({"bad": _("it is nested too deeply"), "values": {}, "page": None})
    return 0


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
