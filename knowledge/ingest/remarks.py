"""What is said of a text that was read again and not simply taken over."""

from knowledge.corrections.readings import Reading
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _

OVERWRITTEN = _("it had been edited here; that version is kept among the document's older ones")
MERGED = _("staff corrected it; what changed elsewhere in it was taken over, and the correction stays")
HELD = _("it changed where staff had corrected it: the correction stays until somebody decides")
SENTENCES = {Reading.OVERWRITTEN: OVERWRITTEN, Reading.MERGED: MERGED, Reading.HELD: HELD}


def remark_on(reading: Reading) -> Said | None:
    return Said(SENTENCES[reading]) if reading in SENTENCES else None
