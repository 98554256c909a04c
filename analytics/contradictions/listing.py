"""One list of texts that do not go together: contradictions, FAQs that ask the same, and pages that changed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.db.models import CharField, F, FloatField, OuterRef, Q, QuerySet, Value
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.http import urlencode
from django.utils.text import Truncator
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.contradictions.advice import advise, read_changes
from analytics.models import Contradiction, ReviewFeed
from analytics.models.contradictions import FEED, count_recent_answers
from chat.conversations.impact import stale_documents
from chat.pipeline.sentences.quotable import read_cells, readable
from core.diffs import Part, compare
from faqs.models import FAQ, SimilarPair, main_language
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Correction, Document

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.utils.functional import Promise

CONTRADICTION, DUPLICATE, CHANGED, CORRECTED = "contradiction", "duplicate", "changed", "corrected"
Kind, State = Contradiction.Kind, Contradiction.State
KINDS: "dict[str, str | Promise]" = {
    **dict(Kind.choices),
    DUPLICATE: gettext_lazy("two FAQs that ask the same"),
    CHANGED: gettext_lazy("a page that changed"),
    CORRECTED: gettext_lazy("a correction whose source changed"),
}
#: Characters of an FAQ's answer in the list.
SHOWN = 300


@dataclass(frozen=True, slots=True)
class Key:
    """A row's kind of source and id, and how many recent answers cited what it is about."""

    source: str
    pk: int
    touched: int


@dataclass(frozen=True, slots=True)
class Side:
    """One text with its page or FAQ; `parts` are its words, marked where the other text differs."""

    label: str
    title: str
    heading: str
    language: str
    parts: Sequence[Part]
    edit_url: str
    page_url: str


@dataclass(frozen=True, slots=True)
class Row:
    """What stands together; a `contradiction` is decided in the list, the others on the screen `step_url`.

    `advice` is one line on where to begin. `edited_at` is when one of the texts was edited, if they were not compared
    since.
    """

    key: Key
    kind: str
    sides: Sequence[Side]
    step: str = ""
    step_url: str = ""
    advice: str = ""
    contradiction: Contradiction | None = None
    edited_at: datetime | None = None


def list_keys(user: "User", *, kind: str, state: str, only: int | None = None) -> QuerySet[Any, Any]:
    """Return the keys (as tuples) of what the user may see, those first that recent answers cited most.

    Duplicates, changed pages and corrections are open until they are decided on their own screens. With `only` the
    contradiction with that id stands alone.
    """
    contradictions = Contradiction.objects.visible_to(user).filter(state=state).with_touched()
    if only is not None:
        return _keys(contradictions.filter(pk=only), CONTRADICTION, F("score")).order_by("pk")
    if kind in Kind:
        contradictions = contradictions.filter(kind=kind)
    found = {CONTRADICTION: _keys(contradictions, CONTRADICTION, F("score"))}
    if state == State.OPEN and kind not in Kind:
        if reads_faqs(user):
            found[DUPLICATE] = _keys(_pairs(user), DUPLICATE, F("similarity"))
        changed = stale_documents().visible_to(user).annotate(touched=F("answer_count"))
        found[CHANGED] = _keys(changed, CHANGED, Value(0.0, FloatField()))
        cited = count_recent_answers(Q(document=OuterRef("document")))
        corrected = Correction.objects.in_conflict().visible_to(user).annotate(touched=cited)
        found[CORRECTED] = _keys(corrected, CORRECTED, Value(0.0, FloatField()))
    if kind in (DUPLICATE, CHANGED, CORRECTED):
        chosen = [found[kind]] if kind in found else [found[CONTRADICTION].none()]
    else:
        chosen = list(found.values())
    return chosen[0].union(*chosen[1:], all=True).order_by("-touched", "-rank", "source", "pk")


def read_rows(keys: Sequence[Key], user: "User") -> list[Row]:
    """Return the rows of these keys, in their order; what was deleted meanwhile is left out."""
    found: dict[tuple[str, int], Row] = {}
    readers = {CONTRADICTION: _contradictions, DUPLICATE: _duplicates, CHANGED: _changed, CORRECTED: _corrected}
    for source, read in readers.items():
        if wanted := {key.pk: key for key in keys if key.source == source}:
            found |= {(source, row.key.pk): row for row in read(wanted, user)}
    return [found[key.source, key.pk] for key in keys if (key.source, key.pk) in found]


def reads_faqs(user: "User") -> bool:
    return user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq")


def _pairs(user: "User") -> QuerySet[SimilarPair]:
    sides = Q(document__faq_sources__faq=OuterRef("first")) | Q(document__faq_sources__faq=OuterRef("second"))
    return SimilarPair.objects.visible_to(user).to_look_at().annotate(touched=count_recent_answers(sides))


def _keys(rows: QuerySet[Any], source: str, rank: Any) -> QuerySet[Any, Any]:
    named: QuerySet[Any] = rows.order_by().annotate(source=Value(source, CharField()), rank=rank)
    return named.values_list("source", "pk", "touched", "rank")


def _contradictions(keys: Mapping[int, Key], user: "User") -> Iterator[Row]:
    compared = ReviewFeed.objects.filter(name=FEED).values_list("until", flat=True).first()
    rows = list(Contradiction.objects.for_list().filter(pk__in=keys))
    changes = read_changes(owner for row in rows for owner in map(_edited, _owners(row)))
    for each in rows:
        one, other = _owners(each)
        first, second = _marked(each, is_translation=main_language(one.language) != main_language(other.language))
        sides = _side(one, each.first_heading, first, user), _side(other, each.second_heading, second, user)
        edited = max(owner.updated_at for owner in (one, other))
        edited_at = edited if compared and edited > compared else None
        advice = advise(_edited(one), _edited(other), changes)
        yield Row(keys[each.pk], each.get_kind_display(), sides, advice=advice, contradiction=each, edited_at=edited_at)


def _owners(row: Contradiction) -> tuple[Document | FAQ, Document | FAQ]:
    sides = row.first_document or row.first_faq, row.second_document or row.second_faq
    return cast("tuple[Document | FAQ, Document | FAQ]", sides)


def _edited(owner: Document | FAQ) -> Document | FAQ:
    """Return where a text is edited: an answer of staff's own in its FAQ."""
    return owner.answer_page.faq if isinstance(owner, Document) and owner.is_written_answer else owner


def _marked(each: Contradiction, *, is_translation: bool) -> tuple[Sequence[Part], Sequence[Part]]:
    """Return both texts, marked where they differ; of a translation, all words do, and only what was found is."""
    first, second = _as_read(each.first_text), _as_read(each.second_text)
    if is_translation:
        return _mark(first, each.first_words), _mark(second, each.second_words)
    lines = {line.kind: line.parts for line in compare(first, second).lines}
    return lines.get("removed", (Part(first, False),)), lines.get("added", (Part(second, False),))


def _mark(text: str, words: str) -> Sequence[Part]:
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) if words else None
    if not found:
        return (Part(text, False),)
    before, behind = text[: found.start()], text[found.end() :]
    return Part(before, False), Part(found[0], True), Part(behind, False)


def _as_read(text: str) -> str:
    """Return a statement as its page shows it, without the marks of Markdown; only a table row has a "|"."""
    return "; ".join(filter(None, read_cells(text))) if "|" in text else readable(text, ())


def _side(owner: Document | FAQ, heading: str, parts: Sequence[Part], user: "User") -> Side:
    if isinstance(owner, Document) and not owner.is_written_answer:
        address = reverse("admin:knowledge_document_change", args=[owner.pk])
        return Side(_("Page"), str(owner), make_plain(heading), owner.language, parts, address, owner.url)
    faq, language = cast("FAQ", _edited(owner)), owner.language
    label = _("Key points of an FAQ")
    if isinstance(owner, Document):
        in_german, in_english = _("Answer written by staff, in German"), _("Answer written by staff, in English")
        label = in_german if language == "de" else in_english
    return Side(label, faq.question, make_plain(heading), language, parts, _faq_url(faq, user), "")


def _faq_url(faq: FAQ, user: "User") -> str:
    return reverse("admin:faqs_faq_change", args=[faq.pk]) if reads_faqs(user) else ""


def _duplicates(keys: Mapping[int, Key], user: "User") -> Iterator[Row]:
    found = SimilarPair.objects.filter(pk__in=keys).select_related("first", "second")
    pairs = list(found.prefetch_related("first__sources__document", "second__sources__document"))
    changes = read_changes(faq for pair in pairs for faq in (pair.first, pair.second))
    for pair in pairs:
        sides = [
            Side(_("FAQ"), faq.question, "", faq.language, [Part(_says(faq), False)], _faq_url(faq, user), "")
            for faq in (pair.first, pair.second)
        ]
        address = f"{reverse('admin:faqs_faq_duplicates')}?{urlencode({'pair': pair.pk})}"
        advice = advise(pair.first, pair.second, changes)
        yield Row(keys[pair.pk], str(KINDS[DUPLICATE]), sides, _("Compare and merge"), address, advice)


def _says(faq: FAQ) -> str:
    """Return the answer that staff wrote, or the pages that answer."""
    written = make_plain(next(iter(faq.written_answers.values()), ""))
    return Truncator(written).chars(SHOWN) or ", ".join(str(source.document) for source in faq.sources.all())


def _changed(keys: Mapping[int, Key], user: "User") -> Iterator[Row]:
    changed: QuerySet[Any] = stale_documents().filter(pk__in=keys)
    for page in changed:
        faqs = ngettext("%d FAQ relies on it.", "%d FAQs rely on it.", page.faq_count) % page.faq_count
        day = date_format(localtime(page.altered_at), "SHORT_DATE_FORMAT")
        changed_on = _("Changed on %(day)s.") % {"day": day}
        text = f"{changed_on} {faqs}"
        address = reverse("admin:knowledge_document_change", args=[page.pk])
        side = Side(_("Page"), str(page), "", "", [Part(text, False)], address, page.url)
        step_url = reverse("impact-document", args=[page.pk])
        yield Row(keys[page.pk], str(KINDS[CHANGED]), [side], _("Check what relied on it"), step_url)


def _corrected(keys: Mapping[int, Key], user: "User") -> Iterator[Row]:
    rows = Correction.objects.filter(pk__in=keys).select_related("document").defer("text", "new_text", "document__text")
    for each in rows:
        page, found_at = each.document, each.found_at
        if found_at is None:
            continue
        day = date_format(localtime(found_at), "SHORT_DATE_FORMAT")
        said = _("Its source changed on %(day)s where staff had corrected it. Students get the correction.")
        address = reverse("admin:knowledge_document_change", args=[page.pk])
        side = Side(_("Page"), str(page), "", "", [Part(said % {"day": day}, False)], address, page.url)
        step_url = reverse("admin:knowledge_document_correction", args=[page.pk])
        yield Row(keys[each.pk], str(KINDS[CORRECTED]), [side], _("Compare and decide"), step_url)
