"""Two people with one FAQ's form open: what the first one saved, shown to the second, who loses nothing."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from faqs.history import present_fingerprint
from faqs.models import FAQ, FAQVersion
from faqs.snapshots import as_text, content_of
from knowledge.diffs import Comparison, compare

if TYPE_CHECKING:
    from django.http import QueryDict

#: In place of a fingerprint: of an FAQ that is gone.
GONE = "gone"
#: By the formset's prefix: what tells its rows apart.
ROW_KEYS = {"phrasings": "text", "sources": "document"}


@dataclass(frozen=True, slots=True)
class Conflict:
    """What somebody else made of it; `fingerprint` is what to send as `over` to save all the same."""

    message: str
    fingerprint: str
    comparison: Comparison | None = None
    by: str = ""
    at: datetime | None = None


def conflict_of(faq_id: int, *, seen: str, over: str) -> Conflict | None:
    """What was saved since the state with the fingerprint `seen`, unless it is to be saved over just that.

    Holds the FAQ until the transaction ends.
    """
    present = present_fingerprint(faq_id) or GONE
    if present in {seen, over}:
        return None
    if present == GONE:
        said = _("This FAQ was deleted while you worked on it. What you wrote is still here: nothing is lost.")
        return Conflict(said, GONE)
    faq = FAQ.objects.with_parts().get(pk=faq_id)
    base = FAQVersion.objects.filter(faq=faq_id, fingerprint=seen).first() if seen else None
    last = FAQVersion.objects.filter(faq=faq_id, fingerprint=present).select_related("made_by").first()
    return Conflict(
        message=_("Nothing was saved yet: this FAQ was changed while you worked on it. What you wrote is still here."),
        fingerprint=present,
        comparison=compare(as_text(base.content) if base else "", as_text(content_of(faq))),
        by=str(last.made_by) if last and last.made_by else "",
        at=last.made_at if last else faq.updated_at,
    )


def rebased(data: "QueryDict", faq_id: int) -> "QueryDict":
    """What a form sent, with its rows led back to those that are there by now: rows with the same text or document are
    the same, others are new, and what the form does not have is marked to be deleted."""
    changed = data.copy()
    for prefix, key in ROW_KEYS.items():
        sent = _rows(data, prefix, key)
        for name in [name for name in changed if name.startswith(f"{prefix}-")]:
            del changed[name]
        number = 0
        for pk, value in _present(faq_id, prefix):
            row = sent.pop(value, None)
            named = {**(row or {key: value}), "id": str(pk), "faq": str(faq_id), **({} if row else {"DELETE": "on"})}
            changed.update({f"{prefix}-{number}-{name}": each for name, each in named.items()})
            number += 1
        changed[f"{prefix}-INITIAL_FORMS"] = str(number)
        for row in sent.values():
            changed.update({f"{prefix}-{number}-{name}": each for name, each in row.items()})
            number += 1
        changed[f"{prefix}-TOTAL_FORMS"] = str(number)
    return changed


def _rows(data: "QueryDict", prefix: str, key: str) -> dict[str, dict[str, str]]:
    """The fields of each row by what tells it apart; without empty ones and those to be deleted."""
    total = data.get(f"{prefix}-TOTAL_FORMS", "")
    rows: dict[str, dict[str, str]] = {}
    for number in range(min(int(total), 2_000) if total.isdecimal() else 0):
        start = f"{prefix}-{number}-"
        row = {name.removeprefix(start): str(value) for name, value in data.items() if name.startswith(start)}
        value = row.get(key, "").strip()
        if value and not row.get("DELETE"):
            rows.setdefault(value, {name: each for name, each in row.items() if name not in {"id", "faq"}})
    return rows


def _present(faq_id: int, prefix: str) -> list[tuple[int, str]]:
    faq = FAQ(pk=faq_id)
    if prefix == "phrasings":
        return list(faq.phrasings.values_list("pk", "text"))
    return [(pk, str(document)) for pk, document in faq.sources.values_list("pk", "document_id")]
