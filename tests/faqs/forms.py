"""What the browser sends from an FAQ's form."""

from typing import Any

from faqs.models import FAQ
from faqs.versions.snapshots import fingerprint_content, read_content
from knowledge.models import Document


def seen(faq: FAQ) -> str:
    """Return the fingerprint of the state that the form was opened in."""
    return fingerprint_content(read_content(FAQ.objects.with_parts().get(pk=faq.pk)))


def build_form(
    faq: FAQ, *, phrasings: list[str] | None = None, documents: list[Document] | None = None, **changes: Any
) -> dict[str, Any]:
    """Return the form's data if the saved rows stay and the given ones are added."""
    names = ("question", "language", "status", "reference_answer", "external_id")
    data: dict[str, Any] = {name: getattr(faq, name) for name in names}
    if faq.pk:
        data["seen"] = seen(faq)
    if faq.collection_id:
        data["collection"] = faq.collection_id
    saved = {
        "phrasings": list(faq.phrasings.all()) if faq.pk else [],
        "sources": list(faq.sources.all()) if faq.pk else [],
    }
    added: dict[str, list[Any]] = {"phrasings": phrasings or [], "sources": documents or []}
    for prefix, rows in saved.items():
        data |= {f"{prefix}-TOTAL_FORMS": len(rows) + len(added[prefix]), f"{prefix}-INITIAL_FORMS": len(rows)}
        for number, row in enumerate(rows):
            data |= {f"{prefix}-{number}-id": row.pk, f"{prefix}-{number}-faq": faq.pk}
            if prefix == "phrasings":
                data[f"{prefix}-{number}-text"] = row.text
            else:
                data |= {f"{prefix}-{number}-document": row.document_id, f"{prefix}-{number}-position": row.position}
        for number, new in enumerate(added[prefix], start=len(rows)):
            if prefix == "phrasings":
                data[f"{prefix}-{number}-text"] = new
            else:
                data |= {f"{prefix}-{number}-document": new.pk, f"{prefix}-{number}-position": number}
    return {**data, **changes}
