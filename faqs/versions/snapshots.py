"""An FAQ with its phrasings and sources as one value: to keep, to compare, and to show as text."""

import json
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from core.hashing import fingerprint
from faqs.models import ANSWER_FIELDS, FAQ
from knowledge.models import Document

Content = dict[str, Any]

#: What a translation must follow.
SAYS = ("question", "reference_answer", "valid_from", "valid_until")
SAYS_AS_ANSWER = ("answer_de", "answer_en")


def read_content(faq: FAQ) -> Content:
    """Return all that staff can change of it; fetch it with `FAQQuerySet.with_parts`."""
    phrasings = [phrasing.text for phrasing in faq.phrasings.all()]
    return content_with(faq, phrasings=phrasings, documents=[source.document for source in faq.sources.all()])


def content_with(faq: FAQ, *, phrasings: Sequence[str], documents: Sequence[Document]) -> Content:
    """Return the content of an FAQ whose parts are not saved."""
    return {
        "question": faq.question,
        "phrasings": list(phrasings),
        "sources": [{"id": document.pk, "title": str(document), "url": document.url} for document in documents],
        "category": _named(faq.category),
        "collection": _named(faq.collection),
        "translation_of": _named(faq.translation_of),
        "language": faq.language,
        "status": faq.status,
        "valid_from": faq.valid_from.isoformat() if faq.valid_from else "",
        "valid_until": faq.valid_until.isoformat() if faq.valid_until else "",
        "reference_answer": faq.reference_answer,
        "external_id": faq.external_id,
        # Only where there is one: an FAQ without is what it was before there were any.
        **({"answer": _answer(faq)} if faq.written_answers else {}),
    }


def read_present_answer(faq: FAQ) -> dict[str, str]:
    """Return the FAQ's values of `ANSWER_FIELDS` as texts."""
    return read_answer({"answer": _answer(faq)})


def read_answer(content: Content) -> dict[str, str]:
    """Return the values of `ANSWER_FIELDS` as texts, also of a version from before there were any."""
    return {**dict.fromkeys(ANSWER_FIELDS, ""), **content.get("answer", {})}


def fingerprint_content(content: Content) -> str:
    """Return a hash that is the same for equal contents, whatever documents and categories are called by now."""
    ids = {name: (content[name] or {}).get("id") for name in ("category", "collection", "translation_of")}
    return fingerprint(json.dumps({**content, **ids, "sources": _ids(content)}, sort_keys=True))


def says_the_same(one: Content, other: Content) -> bool:
    """Return whether a translation of the one is as good as one of the other."""
    return _says(one) == _says(other)


def as_text(content: Content) -> str:
    """Format the content for people to read and to compare, line by line."""
    label = dict(FAQ.Status.choices).get(content["status"], content["status"])
    lines = [
        _("Question: %(text)s") % {"text": content["question"]},
        _("Status: %(text)s") % {"text": label},
        _("Language: %(text)s") % {"text": content["language"]},
    ]
    for name, said in (
        ("category", _("Category: %(text)s")),
        ("collection", _("Collection: %(text)s")),
        ("translation_of", _("Translation of: %(text)s")),
    ):
        if content[name]:
            lines.append(said % {"text": content[name]["name"]})
    for name, said in (
        ("valid_from", _("Valid from: %(text)s")),
        ("valid_until", _("Valid until: %(text)s")),
        ("external_id", _("Id at its source: %(text)s")),
    ):
        if content[name]:
            lines.append(said % {"text": content[name]})
    if content["phrasings"]:
        lines += [_("Other ways to ask the same:"), *(f"– {text}" for text in content["phrasings"])]
    if content["sources"]:
        sources = enumerate(content["sources"], start=1)
        lines += [_("Documents:"), *(f"{n}. {source['title']} ({source['url']})" for n, source in sources)]
    answer = read_answer(content)
    for text, office, said in (
        ("answer_de", "office_de", _("Answer in German, by %(office)s, checked on %(day)s:")),
        ("answer_en", "office_en", _("Answer in English, by %(office)s, checked on %(day)s:")),
    ):
        if answer[text]:
            named = {"office": answer[office] or "–", "day": answer["answer_checked_on"]}
            lines += [said % named, *answer[text].splitlines()]
    if content["reference_answer"]:
        lines += [_("Key points (internal):"), *content["reference_answer"].splitlines()]
    return "\n".join(lines)


def _says(content: Content) -> list[Any]:
    answer = read_answer(content)
    return [*(content[name] for name in SAYS), *(answer[name] for name in SAYS_AS_ANSWER), _ids(content)]


def _answer(faq: FAQ) -> dict[str, str]:
    day = faq.answer_checked_on
    return {name: getattr(faq, name) for name in ANSWER_FIELDS[:-1]} | {
        "answer_checked_on": day.isoformat() if day else ""
    }


def _named(row: Any) -> dict[str, Any] | None:
    return {"id": row.pk, "name": str(row)} if row else None


def _ids(content: Content) -> list[int]:
    return [source["id"] for source in content["sources"]]
