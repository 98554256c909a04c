"""Finds what was saved of an FAQ since its form was opened, and the rows of that form."""

from typing import TYPE_CHECKING

from core.admin.edit_conflicts import GONE, Conflict
from core.diffs import compare
from faqs.models import FAQ, FAQVersion
from faqs.versions.history import present_fingerprint
from faqs.versions.snapshots import Content, as_text, read_content

if TYPE_CHECKING:
    from django.http import QueryDict

    from core.access import Staff

#: By the formset's prefix: what tells its rows apart.
ROW_KEYS = {"phrasings": "text", "sources": "document"}


def find_conflict(faq_id: int, *, seen: str, user: "Staff") -> Conflict | None:
    """Return what was saved since the state with the fingerprint `seen`. Lock the FAQ until the transaction ends."""
    present = present_fingerprint(faq_id) or GONE
    if present == seen:
        return None
    if present == GONE:
        return Conflict(GONE)
    faq = FAQ.objects.with_parts().get(pk=faq_id)
    base = find_version(faq_id, seen)
    since = faq.versions.select_related("made_by")
    made = list(since.filter(pk__gt=base.pk) if base else since.filter(fingerprint=present)[:1])
    # What was changed as from a shell has no version yet, and nobody who made it.
    last = made[0] if made and made[0].fingerprint == present else None
    return Conflict(
        fingerprint=present,
        comparison=compare(as_text(base.content) if base else "", as_text(read_content(faq))),
        is_own=last is not None and {version.made_by_id for version in made} == {user.pk},
        by=", ".join(dict.fromkeys(str(version.made_by) for version in reversed(made) if version.made_by)),
        at=last.made_at if last else faq.updated_at,
    )


def find_version(faq_id: int, fingerprint: str) -> FAQVersion | None:
    return FAQVersion.objects.filter(faq=faq_id, fingerprint=fingerprint).first() if fingerprint else None


def rebased(data: "QueryDict", faq_id: int, base: Content | None) -> "QueryDict":
    """Match the rows that a form sent to the present ones: rows with the same text or document are
    the same, others are new.

    What others added since `base`, with which the form was opened, is there too, and what they took away is not; what
    the form does not have otherwise is marked to be deleted.
    """
    changed = data.copy()
    for prefix, key in ROW_KEYS.items():
        sent, known = _rows(data, prefix, key), _known(base, prefix)
        is_ordered_anew = _order(sent, known) != [value for value in known if value in sent]
        for name in [name for name in changed if name.startswith(f"{prefix}-")]:
            del changed[name]
        number = 0
        for pk, present in _present(faq_id, prefix):
            row = sent.pop(value := present[key], None)
            is_added = base is not None and value not in known
            if row and value in known and not is_ordered_anew:
                row |= present
            named = {**(row or present), "id": str(pk), "faq": str(faq_id)}
            if row is None and not is_added:
                named["DELETE"] = "on"
            changed.update({f"{prefix}-{number}-{name}": each for name, each in named.items()})
            number += 1
        changed[f"{prefix}-INITIAL_FORMS"] = str(number)
        for row in [row for value, row in sent.items() if value not in known]:
            changed.update({f"{prefix}-{number}-{name}": each for name, each in row.items()})
            number += 1
        changed[f"{prefix}-TOTAL_FORMS"] = str(number)
    return changed


def _rows(data: "QueryDict", prefix: str, key: str) -> dict[str, dict[str, str]]:
    """Return the fields of each row by its key, without empty rows and those to be deleted."""
    total = data.get(f"{prefix}-TOTAL_FORMS", "")
    rows: dict[str, dict[str, str]] = {}
    for number in range(min(int(total), 2_000) if total.isdecimal() else 0):
        start = f"{prefix}-{number}-"
        row = {name.removeprefix(start): str(value) for name, value in data.items() if name.startswith(start)}
        value = row.get(key, "").strip()
        if value and not row.get("DELETE"):
            rows.setdefault(value, {name: each for name, each in row.items() if name not in {"id", "faq"}})
    return rows


def _known(base: Content | None, prefix: str) -> dict[str, None]:
    """Return the keys of the rows that the form was opened with, in their order."""
    if base is None:
        return {}
    return dict.fromkeys(row if prefix == "phrasings" else str(row["id"]) for row in base[prefix])


def _order(sent: dict[str, dict[str, str]], known: dict[str, None]) -> list[str]:
    """Order the rows that the form was opened with as it has them now; one without a position comes last."""

    def place(value: str) -> float:
        position = sent[value].get("position", "")
        return int(position[:9]) if position.isdecimal() else float("inf")

    return sorted((value for value in sent if value in known), key=place)


def _present(faq_id: int, prefix: str) -> list[tuple[int, dict[str, str]]]:
    faq = FAQ(pk=faq_id)
    if prefix == "phrasings":
        return [(pk, {"text": text}) for pk, text in faq.phrasings.values_list("pk", "text")]
    linked = faq.sources.values_list("pk", "document_id", "position")
    return [(pk, {"document": str(document), "position": str(position)}) for pk, document, position in linked]
