"""Tells in words how what an answer is made from today differs from what it was made from then."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import MD5
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.protocol.moment import FAQNearby, Instructions, Moment, PassageRead, ProfileUsed
from knowledge.chunking.numbered_links import without_numbers
from knowledge.models import Document, Passage


class Fate(StrEnum):
    """What became of a passage that was read then, or what one that is read today was then."""

    SAME = "same"
    CHANGED = "changed"
    OUTRANKED = "outranked"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Compared:
    """`other` is the text of a changed passage on the other side, where it still has one."""

    passage: PassageRead
    fate: Fate
    other: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The passages of both sides in their order, and all differences, each a sentence."""

    then: Sequence[Compared]
    now: Sequence[Compared]
    differences: Sequence[str]


#: What is in the index today: of each address its texts, by heading.
Index = Mapping[str, Sequence[tuple[str, str]]]


def compare_moments(then: Moment, now: Moment) -> Comparison:
    """Compare them, and look up what became of the passages that are not read today."""
    before, after = compare_passages(then.passages, now.passages, _read_index(then.passages))
    differences = [
        *_passages(before, after),
        *_faqs(then.faqs, now.faqs),
        *_office(then, now),
        *_instructions(then.instructions, now.instructions),
        *_profile(then.profile, now.profile),
        *_models(then, now),
    ]
    return Comparison(before, after, differences)


# --- passages ---


def _read_index(passages: Sequence[PassageRead]) -> Index:
    """Read what those pages hold today, by address: one that was deleted and crawled again has another id."""
    wanted = [MD5(Value(url)) for url in {each.url for each in passages}]
    # The expression of the index `document_by_url`.
    pages = Document.objects.published().alias(digest=MD5("url")).filter(digest__in=wanted)
    rows = Passage.objects.live().filter(document__in=pages.order_by(), is_withheld=False)
    found: dict[str, list[tuple[str, str]]] = {}
    for url, path, text in rows.annotate(url=F("document__url")).values_list("url", "heading_path", "text"):
        found.setdefault(url, []).append((path[-1] if path else "", without_numbers(text)))
    return found


def compare_passages(
    then: Sequence[PassageRead], now: Sequence[PassageRead], index: Index
) -> tuple[list[Compared], list[Compared]]:
    """Pair passages by address and text, then by address and heading."""
    same = {(each.url, each.text) for each in then} & {(each.url, each.text) for each in now}
    left = [each for each in now if (each.url, each.text) not in same]
    before, pairs = [], {}
    for each in then:
        if (each.url, each.text) in same:
            before.append(Compared(each, Fate.SAME))
        elif each.text in {text for _heading, text in index.get(each.url, ())}:
            before.append(Compared(each, Fate.OUTRANKED))
        elif twin := next((one for one in left if (one.url, one.heading) == (each.url, each.heading)), None):
            left.remove(twin)
            pairs[twin.passage_id] = each.text
            before.append(Compared(each, Fate.CHANGED, twin.text))
        elif each.url in index:
            before.append(Compared(each, Fate.CHANGED, _text_below(each, index[each.url])))
        else:
            before.append(Compared(each, Fate.GONE))
    after = []
    for each in now:
        if (each.url, each.text) in same:
            after.append(Compared(each, Fate.SAME))
        elif each.passage_id in pairs:
            after.append(Compared(each, Fate.CHANGED, pairs[each.passage_id]))
        else:
            after.append(Compared(each, Fate.NEW))
    return before, after


def _text_below(passage: PassageRead, texts: Sequence[tuple[str, str]]) -> str:
    """Return what stands below the passage's heading today; empty if it is not clear what."""
    heading = passage.heading.rpartition(" › ")[2] or passage.title
    below = [text for each, text in texts if each == heading]
    return below[0] if len(below) == 1 else ""


def _passages(then: Sequence[Compared], now: Sequence[Compared]) -> Iterator[str]:
    def count(rows: Sequence[Compared], fate: Fate) -> int:
        return sum(each.fate == fate for each in rows)

    if n := count(then, Fate.CHANGED):
        yield ngettext(
            "One passage that was read has other words on its page today.",
            "%(n)d passages that were read have other words on their pages today.",
            n,
        ) % {"n": n}
    if n := count(then, Fate.GONE):
        yield ngettext(
            "One passage is gone: its page was deleted, or is no longer used in answers.",
            "%(n)d passages are gone: their pages were deleted, or are no longer used in answers.",
            n,
        ) % {"n": n}
    if n := count(then, Fate.OUTRANKED):
        yield ngettext(
            "One passage stands there as it did, but is not read today: others are closer.",
            "%(n)d passages stand there as they did, but are not read today: others are closer.",
            n,
        ) % {"n": n}
    if n := count(now, Fate.NEW):
        yield ngettext(
            "One passage is read today that was not read then.",
            "%(n)d passages are read today that were not read then.",
            n,
        ) % {"n": n}
    texts = [[each.passage.text for each in rows if each.fate == Fate.SAME] for rows in (then, now)]
    if texts[0] != texts[1]:
        yield _("The passages that are the same come in another order.")


# --- what else ---


def _faqs(then: Sequence[FAQNearby], now: Sequence[FAQNearby]) -> Iterator[str]:
    before, after = ({each.faq_id: each for each in side} for side in (then, now))
    for faq_id, faq in before.items():
        if faq_id not in after:
            yield _("The FAQ “%(question)s” lifted its documents then and does not today.") % {"question": faq.question}
        elif faq.question != after[faq_id].question:
            values = {"then": faq.question, "now": after[faq_id].question}
            yield _("The FAQ “%(then)s” is worded “%(now)s” today.") % values
        elif faq.answer != after[faq_id].answer:
            yield _("The FAQ “%(question)s” has another reference answer today.") % {"question": faq.question}
    for faq_id, faq in after.items():
        if faq_id not in before:
            yield _("The FAQ “%(question)s” lifts its documents today and did not then.") % {"question": faq.question}


def _office(then: Moment, now: Moment) -> Iterator[str]:
    match then.office, now.office:
        case None, None:
            return
        case None, _shown:
            yield _("An office’s own answer is shown today; there was none then.")
        case _shown, None:
            yield _("An office’s own answer was shown then; there is none today.")
        case before, after if before and after and (before.faq_id, before.text) != (after.faq_id, after.text):
            yield _("The office’s own answer has other words today.")


def _instructions(then: Instructions | None, now: Instructions | None) -> Iterator[str]:
    if then is None or now is None:
        return
    if then.name != now.name:
        yield _("Other instructions: “%(then)s” then, “%(now)s” today.") % {"then": then.name, "now": now.name}
    elif (then.system, then.question) != (now.system, now.question):
        yield _("The instructions “%(name)s” have other words today.") % {"name": then.name}
    if (then.assistant, then.institution, then.persona) != (now.assistant, now.institution, now.persona):
        yield _("The assistant’s name, its institution or how it speaks was another one.")


def _profile(then: ProfileUsed, now: ProfileUsed) -> Iterator[str]:
    if then.name != now.name:
        yield _("Another retrieval profile: “%(then)s” then, “%(now)s” today.") % {"then": then.name, "now": now.name}
    names = {
        "threshold": _("evidence needed"),
        "sources": _("sources for the answer"),
        "fusion": _("merging"),
        "rerank_first": _("rerank the first"),
    }
    for field, name in names.items():
        before, after = getattr(then, field), getattr(now, field)
        if before != after:
            yield _("%(what)s: %(then)s then, %(now)s today.") % _values(name, before, after)
    if then.retrievers != now.retrievers:
        yield _("The retrievers, their weights or how many passages they find are others.")
    others = [(side.protect_faqs, side.word_steps, side.prefers_editions) for side in (then, now)]
    if others[0] != others[1]:
        yield _("How the profile reads words, keeps curated documents first or prefers editions is another way.")


def _models(then: Moment, now: Moment) -> Iterator[str]:
    none = _("none")
    if then.model != now.model:
        yield _("%(what)s: %(then)s then, %(now)s today.") % _values(
            _("Language model"), then.model or none, now.model or none
        )
    elif then.model:
        names = {"temperature": _("How freely it words"), "longest_answer": _("Longest answer")}
        for field, name in names.items():
            if getattr(then, field) != getattr(now, field):
                yield _("%(what)s: %(then)s then, %(now)s today.") % _values(
                    name, getattr(then, field), getattr(now, field)
                )
        if then.strictness != now.strictness:
            yield _("The check of sentences is set to another strictness.")
    if then.embedding_model != now.embedding_model:
        yield _("%(what)s: %(then)s then, %(now)s today.") % _values(
            _("Embedding model"), then.embedding_model, now.embedding_model
        )
    elif then.generation != now.generation:
        yield _("The whole index was built anew since.")
    if set(then.collections) != set(now.collections):
        yield _("Other collections are searched.")
    if set(then.audience) != set(now.audience):
        yield _("Other things are known of who asks.")


def _values(what: object, then: Any, now: Any) -> dict[str, str]:
    text = str(what)
    shown = [number_format(each) if isinstance(each, float | int) else str(each) for each in (then, now)]
    return {"what": text[:1].upper() + text[1:], "then": shown[0], "now": shown[1]}
