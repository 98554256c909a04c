"""What was saved of a document since its form was opened, and by whom."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils.dateparse import parse_datetime

from knowledge.conflicts import GONE, HASHED, Conflict, changed_meanwhile, opened, values_of
from knowledge.diffs import Comparison, compare
from knowledge.models import Document, DocumentRevision

if TYPE_CHECKING:
    from django.forms import BaseForm, BoundField

    from knowledge.staff_scope import Staff


def version_of(document: Document) -> str:
    return document.updated_at.isoformat()


def conflict_of(document: Document, *, data: Mapping[str, Any], form: "BaseForm", user: "Staff") -> Conflict | None:
    """What was saved since the form was opened that sent this; `form` has the document as it is now.

    A save that changed nothing of what the form has is none.
    """
    version, seen = version_of(document), data.get("seen", "")
    names = changed_meanwhile(data, form)
    if version == seen or (opened(data) and not names):
        return None
    replaced = _replaced_since(document, seen)
    makers = _makers(document, replaced.replaced_at if replaced else document.updated_at)
    return Conflict(
        fingerprint=version,
        comparison=_compared(names, data, form, (replaced.text if replaced else "", document.text)),
        is_own=set(makers) == {user.get_username()},
        by=", ".join(dict.fromkeys(makers)),
        at=document.updated_at,
    )


def gone(data: Mapping[str, Any]) -> Conflict | None:
    """That it was deleted, unless the form that sent this has said so."""
    return None if data.get("seen") == GONE else Conflict(GONE)


def _replaced_since(document: Document, seen: str) -> DocumentRevision | None:
    """The title and the text that the form was opened with, where they are other ones by now."""
    with suppress(ValueError):
        if at := parse_datetime(seen):
            return document.revisions.filter(replaced_at__gt=at).order_by("pk").first()
    return None


def _makers(document: Document, since: datetime) -> list[str]:
    """Who changed it, the latest last; nobody where the last change was none of staff, as a crawl's."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Document),
        object_id=str(document.pk),
        action_flag=CHANGE,
        action_time__gte=since,
    )
    made = list(entries.order_by("pk").values_list("user__username", "action_time"))
    return [name for name, _at in made] if made and made[-1][1] >= document.updated_at else []


def _compared(names: Sequence[str], data: Mapping[str, Any], form: "BaseForm", texts: tuple[str, str]) -> Comparison:
    """The fields that were changed meanwhile, the text last; of a form that does not say what it had, the text."""
    fields = [form[name] for name in names if name != "text"]
    sides = [[_said(bound, values[bound.name]) for bound in fields] for values in (opened(data), values_of(form))]
    if "text" in names or not names:
        for lines, text in zip(sides, texts, strict=True):
            lines.append(text)
    old, new = ("\n".join(lines) for lines in sides)
    return compare(old, new)


def _said(bound: "BoundField", value: str) -> str:
    """A value for people to read; a very long one is not there any more."""
    labels = {str(key): str(label) for key, label in getattr(bound.field, "choices", ())}
    return f"{bound.label}: {'…' if value.startswith(HASHED) else labels.get(value, value)}"
