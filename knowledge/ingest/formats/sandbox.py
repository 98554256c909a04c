"""`python -m knowledge.ingest.formats.sandbox SETTINGS`: reads the file on standard input under limits that end this
process.

One JSON value a line: `{"page", "of"}` after every page, `{"markdown"}` for every piece of it, then `{"text"}` with the
rest or `{"bad", "values", "page"}`.
"""

import json
import logging
import resource
import sys
import warnings
from typing import Any

from knowledge.ingest.formats.registry import FORMATS
from knowledge.ingest.formats.types import BadFile, Limits, NoText
from knowledge.ingest.formats.types import gettext_noop as _

#: How deep page trees, forms and tables may be nested.
DEPTH = 2_000


def main() -> int:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    limits = Limits(**settings["limits"])
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.total_seconds, limits.total_seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.setrecursionlimit(DEPTH)
    logging.disable(logging.CRITICAL)  # pdfminer warns of much that does no harm
    warnings.simplefilter("ignore")  # as openpyxl does of styles
    seen: list[int] = []  # the pages that were read so far; none if the file has none

    def progress(page: int, of: int) -> None:
        seen[:] = [page]
        say({"page": page, "of": of})

    def write(piece: str) -> None:
        say({"markdown": piece})

    read = FORMATS[settings["suffix"]].read
    try:
        text = read(sys.stdin.buffer, limits=limits, progress=progress, write=write, **settings["options"])
        say({"text": text.to_wire()})
    except BadFile as bad:
        is_text = not isinstance(bad, NoText)
        say({"bad": bad.reason.template, "values": bad.reason.values, "page": bad.page, "is_text": is_text})
    except MemoryError:
        memory = {"limit": limits.memory_bytes // 1_000_000}
        say(
            {
                "bad": _("unpacked it needs more than {limit} MB of memory"),
                "values": memory,
                "page": reached(seen),
            }
        )
    except RecursionError:
        say({"bad": _("it is nested too deeply"), "values": {}, "page": None})
    except Exception as error:
        damaged = _("it is damaged ({error}): open it in the program that made it, save it anew and take that file")
        say({"bad": damaged, "values": {"error": type(error).__name__}, "page": reached(seen)})
    return 0


def reached(seen: list[int]) -> int | None:
    """Return the page that was being read."""
    return seen[0] + 1 if seen else None


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
