"""Checks of an office file, which is an archive of XML, before any library opens it."""

import re
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from knowledge.ingest.formats.types import BadFile, Limits, Said
from knowledge.ingest.formats.types import gettext_noop as _

COMPOUND, ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
#: How other kinds of files begin.
BEGINNINGS = {b"%PDF-": ".pdf", b"{\\rtf": ".rtf", b"<!DOCTYPE html": ".html", b"<html": ".html"}
#: The part that only one format has.
MAIN_PARTS = {"word/document.xml": ".docx", "ppt/presentation.xml": ".pptx", "xl/workbook.xml": ".xlsx"}
OPEN_DOCUMENT = {
    b"application/vnd.oasis.opendocument.text": ".odt",
    b"application/vnd.oasis.opendocument.spreadsheet": ".ods",
    b"application/vnd.oasis.opendocument.presentation": ".odp",
}
MOST_PARTS = 10_000
MACROS = re.compile(r"(?:^|/)vbaProject\.bin$|^Basic/|^Scripts/", re.IGNORECASE)
DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
#: The declaration stands before the first element.
PROLOG_BYTES = 4096
EXTERNAL = re.compile(rb"<Relationship\b[^>]*TargetMode\s*=\s*[\"']External[\"'][^>]*>")
LINK_TYPE = re.compile(rb"Type\s*=\s*[\"'][^\"']*/hyperlink[\"']")
TARGET = re.compile(rb"Target\s*=\s*[\"']([^\"']*)[\"']")


def open_archive(file: BinaryIO, suffix: str, limits: Limits) -> ZipFile:
    """Open an office file after its checks; raises BadFile that says what to do."""
    check_beginning(file, suffix)
    try:
        archive = ZipFile(file)
    except (BadZipFile, ValueError, EOFError) as error:
        raise BadFile(_("it is cut off or damaged: copy or download it again")) from error
    _check_sizes(archive, limits)
    kind = _kind(archive)
    if kind != suffix:
        raise _other(kind, suffix)
    parts = archive.namelist()
    if any(MACROS.search(name) for name in parts):
        reason = _("it holds macros, which could harm whoever opens it: save it without them, as {suffix}")
        raise BadFile(reason, suffix=suffix)
    if any(part.flag_bits & 1 for part in archive.infolist()) or _is_encrypted(archive):
        raise BadFile(_("it opens with a password only: save it without one"))
    for part in archive.infolist():
        if part.filename.endswith((".xml", ".rels")) and DECLARATION.search(read_part(archive, part, PROLOG_BYTES)):
            raise BadFile(_("it declares entities, as no office program does: save it anew in one"))
    return archive


def check_beginning(file: BinaryIO, suffix: str) -> None:
    """Check that a file begins as an archive, and go back there; raises BadFile that says what it is instead."""
    head = file.read(4096)
    file.seek(0)
    if not head.strip(b"\x00"):
        raise BadFile(_("the file is empty"))
    if head.startswith(COMPOUND):
        raise BadFile(_describe_compound(file))
    if not head.startswith(ZIP):
        raise _other(_beginning(head), suffix)


def read_part(archive: ZipFile, part: ZipInfo | str, most: int = -1) -> bytes:
    """Read a part of the archive; raises BadFile if it is damaged."""
    try:
        with archive.open(part) as file:
            return file.read(most)
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(_("it is cut off or damaged: copy or download it again")) from error


def from_elsewhere(archive: ZipFile) -> list[Said]:
    """Remark on what the file takes from other places when it is opened: pictures, templates, figures, not links."""
    found: dict[str, None] = {}
    for name in archive.namelist():
        if name.endswith(".rels"):
            for relationship in EXTERNAL.findall(read_part(archive, name)):
                target = TARGET.search(relationship)
                if target and not LINK_TYPE.search(relationship):
                    found[target[1].decode("utf-8", "replace")[:200]] = None
    if not found:
        return []
    text = _("it takes content from elsewhere, which was not fetched ({address}): put into the file what students need")
    return [Said(text, {"address": ", ".join(list(found)[:3])})]


def _check_sizes(archive: ZipFile, limits: Limits) -> None:
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or unpacked > limits.unpacked_bytes:
        reason = _("unpacked it has {size} MB; {limit} are allowed: make its pictures smaller or split it")
        raise BadFile(reason, size=unpacked // 1_000_000, limit=limits.unpacked_bytes // 1_000_000)


def _kind(archive: ZipFile) -> str:
    names = set(archive.namelist())
    if "mimetype" in names:
        return OPEN_DOCUMENT.get(read_part(archive, "mimetype", 100).strip(), ".zip")
    return next((suffix for part, suffix in MAIN_PARTS.items() if part in names), ".zip")


def _is_encrypted(archive: ZipFile) -> bool:
    name = "META-INF/manifest.xml"
    return name in archive.namelist() and b"encryption-data" in read_part(archive, name)


def _beginning(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return next((suffix for mark, suffix in BEGINNINGS.items() if start[:15].lower().startswith(mark.lower())), "")


def _describe_compound(file: BinaryIO) -> str:
    """Say what a compound file is: one that a password encrypts, or one of before 2007."""
    name, before = "EncryptedPackage".encode("utf-16-le"), b""
    while block := file.read(1_000_000):
        if name in before + block:
            return _("it opens with a password only: save it without one")
        before = block[-len(name) :]
    return _("it is of an old format, whatever its name ends in: save it as .docx, .xlsx or .pptx and take that file")


def _other(kind: str, suffix: str) -> BadFile:
    if not kind:
        return BadFile(_("it is no {suffix} file, or its beginning is damaged"), suffix=suffix)
    return BadFile(_("its name ends in {suffix}, but it is a {kind} file: rename it"), suffix=suffix, kind=kind)
