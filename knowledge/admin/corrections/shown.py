"""What is shown of corrections: on a document's page, in the list's filter, and place by place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.diffs import Line, Part, compare
from knowledge.admin.document_history import LOGGED_WITHIN, select_editors
from knowledge.corrections.merging import By, Place
from knowledge.models import Document
from knowledge.services.corrections import read_corrected

#: Places shown, and characters of each text there; a whole handbook would not open on a phone.
MOST_PLACES, MOST_CHARACTERS = 100, 4_000
#: Longer texts are shown without marking the words that differ.
MARKED_CHARACTERS = 1_500


class CorrectedFilter(admin.SimpleListFilter):
    title = _("corrected by staff")
    parameter_name = "corrected"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("yes", _("Corrected")),
            ("conflict", _("Corrected, and changed there since: to decide")),
            ("merged", _("Corrected, with later changes taken over")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        match self.value():
            case "yes":
                return queryset.filter(correction__isnull=False)
            case "conflict":
                return queryset.filter(correction__found_at__isnull=False)
            case "merged":
                return queryset.filter(correction__merged_at__isnull=False)
        return queryset


def describe_correction(document: Document) -> dict[str, Any]:
    """Describe what was corrected in a document, if anything was."""
    shown = read_corrected(document)
    if shown.correction is None:
        return {}
    read, since = shown.correction, shown.correction.corrected_at
    editors = select_editors(document).filter(action_time__range=(since, since + LOGGED_WITHIN))
    return {
        "correction": read,
        "correction_state": shown.state,
        "corrected_by": editors.first(),
        "title_comparison": compare(read.title, document.title),
        "comparison": compare(read.text, document.text),
    }


@dataclass(frozen=True, slots=True)
class Cell:
    label: Any
    lines: Sequence[Line]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class ShownPlace:
    below: str
    cells: Sequence[Cell]


def show_places(places: Iterable[Place], *, touching: bool) -> tuple[list[ShownPlace], int]:
    """Return the first places to show, and how many more there are."""
    chosen = [place for place in places if (place.by is By.TOUCHING) == touching]
    return [_shown(place) for place in chosen[:MOST_PLACES]], max(0, len(chosen) - MOST_PLACES)


def _shown(place: Place) -> ShownPlace:
    cells = (
        _cell(_("As it was read"), place.original, place.original),
        _cell(_("As corrected"), place.original, place.corrected),
        _cell(_("At the source now"), place.original, place.new),
    )
    return ShownPlace(place.below, cells)


def _cell(label: Any, before: str, text: str) -> Cell:
    cut = text[:MOST_CHARACTERS]
    if max(len(before), len(text)) > MARKED_CHARACTERS:
        lines = [Line("same", (Part(line, False),)) for line in cut.splitlines()]
    else:
        lines = [line for line in compare(before, text).lines if line.kind in {"same", "added", "skipped"}]
        lines = lines or [Line("same", (Part(line, False),)) for line in cut.splitlines()]
    if before == text:
        lines = [Line("same", (Part(line, False),)) for line in cut.splitlines()]
    return Cell(label, lines, len(text) > MOST_CHARACTERS)
