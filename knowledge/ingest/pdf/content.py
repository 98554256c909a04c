"""A page's content stream: its operators read by one regular expression, drawn by pdfminer's interpreter.

pdfminer reads a stream letter by letter, which was two fifths of the time that a page took.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LTPage
from pdfminer.pdfinterp import PDFPageInterpreter
from pdfminer.pdftypes import PDFStream, resolve1, stream_value
from pdfminer.psparser import KWD, LIT, PSKeyword
from pdfplumber.page import Page as PlumberPage
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.ingest.pdf.types import BadPdf
from knowledge.ingest.pdf.types import gettext_noop as _

#: A picture within the stream, which may hold any bytes.
PICTURE = re.compile(rb"(?:^|\s)BI[\s/]")
#: What may follow a number, a name or an operator.
_SPECIAL = rb"\x00\t\n\x0c\r ()<>\[\]{}/%"
TOKEN = re.compile(
    rb"(?P<space>(?:[\x00\t\n\x0c\r ]++|%[^\r\n]*+)++)"
    rb"|(?P<number>[+-]?(?:\d++\.?\d*+|\.\d++)(?=[" + _SPECIAL + rb"]|\Z))"
    rb"|/(?P<name>[^" + _SPECIAL + rb"]*+)"
    rb"|\((?P<string>(?:[^()\\]++|\\.|\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.)*+\))*+\))*+)\)"
    rb"|(?P<open><<|\[|\{)"
    rb"|(?P<close>>>|\]|\})"
    rb"|<(?P<hex>[0-9A-Fa-f\x00\t\n\x0c\r ]*+)>"
    rb"|(?P<word>[^" + _SPECIAL + rb"]++)"
    rb"|(?P<stray>.)",
    re.DOTALL,
)
ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
ESCAPED = {b"b": b"\b", b"t": b"\t", b"n": b"\n", b"f": b"\f", b"r": b"\r", b"(": b"(", b")": b")", b"\\": b"\\"}
OPENS = {b">>": b"<<", b"]": b"[", b"}": b"{"}
CONSTANTS = {b"true": True, b"false": False, b"null": None}


def check_content(page: PlumberPage, number: int) -> None:
    """Refuse a stream that cannot be unpacked: it reads as an empty one, which would lose the page's text silently."""
    for part in page.page_obj.contents:
        stream = resolve1(part)
        if isinstance(stream, PDFStream):
            packed = resolve1(stream.attrs.get("Length"))
            if not stream.get_data() and isinstance(packed, int) and packed > 16:
                raise BadPdf(_("its content is damaged and cannot be unpacked"), page=number)


def page_layout(page: PlumberPage) -> LTPage:
    """Draw a page; what pdfminer raises comes as PdfminerException."""
    device = PDFPageAggregator(page.pdf.rsrcmgr, pageno=page.page_number)
    try:
        _Interpreter(page.pdf.rsrcmgr, device).process_page(page.page_obj)
    except Exception as error:
        raise PdfminerException(error) from error
    return device.get_result()


class _Interpreter(PDFPageInterpreter):
    def execute(self, streams: Sequence[object]) -> None:
        """Run the operators of the streams, but those of a stream that runs already (CWE-835)."""
        self.stream_ids.clear()
        parts: list[bytes] = []
        for stream in map(stream_value, streams):
            if stream.objid is not None and stream.objid not in self.parent_stream_ids:
                parts.append(stream.get_data())
                self.stream_ids.add(stream.objid)
        content = parts[0] if len(parts) == 1 else b"\n".join(parts)
        if PICTURE.search(content):
            super().execute(streams)
            return
        known: dict[bytes, tuple[Callable[..., None], int] | None] = {}
        for thing in read_objects(content):
            if not isinstance(thing, PSKeyword):
                self.push(thing)
                continue
            name = thing.name if isinstance(thing.name, bytes) else thing.name.encode()
            if name not in known:
                known[name] = self._operator(name)
            if found := known[name]:
                draw, count = found
                arguments = self.pop(count) if count else []
                if len(arguments) == count:
                    draw(*arguments)

    def _operator(self, name: bytes) -> tuple[Callable[..., None], int] | None:
        """Return the method for an operator, and how many arguments it has."""
        method = name.decode("latin-1").replace("*", "_a").replace('"', "_w").replace("'", "_q")
        draw = getattr(self, f"do_{method}", None)
        return (draw, draw.__func__.__code__.co_argcount - 1) if draw else None


def read_objects(content: bytes) -> Iterator[Any]:
    """Yield operands and operators (PSKeyword). What is no token is left out, as by pdfminer."""
    stack: list[tuple[bytes, list[Any]]] = []
    for found in TOKEN.finditer(content):
        kind = found.lastgroup
        if kind in {"space", "stray"}:
            continue
        raw: bytes = found[kind or 0]
        if kind == "open":
            stack.append((raw, []))
            continue
        if kind == "close":
            if not stack or stack[-1][0] != OPENS[raw]:
                continue
            value: Any = _collected(*stack.pop())
        elif kind == "word":
            value = CONSTANTS[raw] if raw in CONSTANTS else KWD(raw)
            if stack and isinstance(value, PSKeyword):
                continue
        else:
            value = _value(kind or "", raw)
        if stack:
            stack[-1][1].append(value)
        else:
            yield value


def _value(kind: str, raw: bytes) -> Any:
    if kind == "number":
        return float(raw) if b"." in raw else int(raw)
    if kind == "name":
        if b"#" in raw:
            raw = re.sub(rb"#([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), raw)
        try:
            return LIT(raw.decode())
        except UnicodeDecodeError:
            return LIT(raw)
    if kind == "hex":
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", raw)
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    return ESCAPE.sub(_unescaped, raw) if b"\\" in raw else raw


def _unescaped(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8) & 255]) if said[:1].isdigit() else ESCAPED.get(said, b"")


def _collected(opening: bytes, values: list[Any]) -> Any:
    if opening != b"<<":
        return values
    pairs = zip(values[::2], values[1::2], strict=False)
    return {name.name: value for name, value in pairs if hasattr(name, "name")}
