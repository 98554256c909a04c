"""The formats that can be read, by the end of a file's name; each is a module of `readers` with a `FORMAT`."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules

from knowledge.ingest.formats import readers
from knowledge.ingest.formats.types import BadFile, Format, Said
from knowledge.ingest.formats.types import gettext_noop as _


def find_formats() -> dict[str, Format]:
    names = sorted(module.name for module in iter_modules(readers.__path__, f"{readers.__name__}."))
    found = [import_module(name).FORMAT for name in names]
    return {suffix: each for each in found for suffix in (each.suffix, *each.also)}


FORMATS: Mapping[str, Format] = find_formats()
#: Formats of former years, and what to save such a file as.
FORMER = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".pps": ".pptx"}
#: Formats that hold programs.
WITH_MACROS = {".docm": ".docx", ".dotm": ".docx", ".xlsm": ".xlsx", ".pptm": ".pptx", ".ppsm": ".pptx"}
#: Media types that say nothing: the address tells.
VAGUE = frozenset(
    {"application/octet-stream", "application/zip", "application/x-zip-compressed", "binary/octet-stream"}
)


def suffix_of(name: str) -> str:
    return PurePath(name).suffix.lower()


def find_format(name: str) -> Format:
    """Find the format by a file's name; raises BadFile that says what to do with another one."""
    suffix = suffix_of(name)
    if found := FORMATS.get(suffix):
        return found
    if advice := _advise(suffix):
        reason, new = advice
        raise BadFile(reason, name=name, suffix=suffix, new=new)
    reason = _("files that end in “{suffix}” cannot be read; these can: {known}")
    raise BadFile(reason, name=name, suffix=suffix[:20], known=", ".join(FORMATS))


def _advise(suffix: str) -> tuple[str, str] | None:
    """Return what to say of an office program's file that is not read, and what to save it as; None for other files."""
    if suffix in FORMER:
        return _("it is of an old format ({suffix}): save it as {new} and take that file"), FORMER[suffix]
    if suffix in WITH_MACROS:
        reason = _("it may hold macros ({suffix}): save it as {new}, which has none, and take that file")
        return reason, WITH_MACROS[suffix]
    return None


def describe_unread(media_type: str, name: str) -> Said:
    """Say why what a server sent as `media_type` is not read."""
    suffix = suffix_of(name)
    if format_served(media_type, name):
        return Said(_("it is a picture: what it says can be read only where OCR is installed"))
    if advice := _advise(suffix):
        reason, new = advice
        return Said(reason, {"suffix": suffix, "new": new})
    return Said(_("it is neither a page nor a file that can be read but {kind}"), {"kind": media_type[:100]})


def format_served(media_type: str, name: str) -> Format | None:
    """Return the format of a file that a server sent as `media_type`; where that says nothing, its name counts."""
    named = FORMATS.get(suffix_of(name))
    if media_type in VAGUE:
        return named
    return next((each for each in FORMATS.values() if media_type in each.media_types), None)
