"""What is said of a text that was read and not simply taken over, and how remarks are stored."""

from collections.abc import Mapping
from typing import Any

from knowledge.corrections.readings import Reading
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _

OVERWRITTEN = _("it had been edited here; that version is kept among the document's older ones")
MERGED = _("staff corrected it; what changed elsewhere in it was taken over, and the correction stays")
HELD = _("it changed where staff had corrected it: the correction stays until somebody decides")
SENTENCES = {Reading.OVERWRITTEN: OVERWRITTEN, Reading.MERGED: MERGED, Reading.HELD: HELD}


def remark_on(reading: Reading) -> Said | None:
    return Said(SENTENCES[reading]) if reading in SENTENCES else None


def as_json(*remarks: Said) -> dict[str, Any]:
    """Return remarks as they are stored: the fields of the first, and the others as its `more`; {} for none."""
    parts = [{"template": said.template, "values": dict(said.values)} for said in remarks]
    return {**parts[0], "more": parts[1:]} if len(parts) > 1 else parts[0] if parts else {}


def from_json(stored: Mapping[str, Any]) -> list[Said]:
    parts = [stored, *stored.get("more", [])] if stored else []
    return [Said(part["template"], part["values"]) for part in parts]
