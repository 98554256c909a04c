"""Tells why a document is not among an answer's sources, in plain language, in the order of the work; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.pipeline.understanding.clarify import write_label
from chat.playground.facts import Facts, LinkedFAQ, Merged, Outcome, Rank, Standing
from knowledge.models import Document
from knowledge.retrieval.scope import read_kind
from knowledge.retrieval.types import Origin

#: Words named in one sentence.
MOST_WORDS = 12
SCORE_DECIMALS = 3


class Verdict(StrEnum):
    """The meaning of a finding for the document: it stops there, it passes, or it is only good to know."""

    BLOCKS = "blocks"
    PASSES = "passes"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """`advice` is what staff can do about it; empty: nothing is wrong, or nothing can be done."""

    code: str
    verdict: Verdict
    text: str
    advice: str = ""


def blocks(code: str, text: str, advice: str = "") -> Finding:
    return Finding(code, Verdict.BLOCKS, text, advice)


def passes(code: str, text: str) -> Finding:
    return Finding(code, Verdict.PASSES, text)


def note(code: str, text: str, advice: str = "") -> Finding:
    return Finding(code, Verdict.NOTE, text, advice)


def listed(words: Sequence[str]) -> str:
    shown = ", ".join(_("“%(word)s”") % {"word": word} for word in words[:MOST_WORDS])
    return f"{shown}, …" if len(words) > MOST_WORDS else shown


def score_text(value: float | None) -> str:
    return "–" if value is None else number_format(value, decimal_pos=SCORE_DECIMALS)


def check_gates(facts: Facts) -> Iterator[Finding]:
    """In the order of the work; all that block it are told, not the first alone."""
    standing = facts.standing
    if not facts.is_question:
        yield blocks(
            "no_question",
            _("The message was not taken for a question, so nothing was looked up."),
            _("Ask in a whole sentence."),
        )
    yield from _publication(standing)
    yield from _validity(standing, facts)
    yield from _whose(standing, facts)
    yield from _index(standing)


def _publication(standing: Standing) -> Iterator[Finding]:
    if standing.status == Document.Status.ARCHIVED:
        text = _("The document is archived: archived documents are not used in answers.")
        yield blocks("archived", text, _("Publish it again, if it still holds."))
    elif standing.status != Document.Status.PUBLISHED:
        yield blocks("draft", _("The document is a draft: only published ones are used in answers."), _("Publish it."))
    else:
        yield passes("published", _("The document is published."))


def _validity(standing: Standing, facts: Facts) -> Iterator[Finding]:
    advice = _("Correct the dates, if they are wrong.")
    if standing.valid_from and standing.valid_from > facts.scope.on:
        text = _("It is valid only from %(day)s on.") % {"day": date_format(standing.valid_from)}
        yield blocks("not_valid_yet", text, advice)
    elif standing.valid_until and standing.valid_until < facts.scope.on:
        yield blocks("expired", _("It was valid until %(day)s.") % {"day": date_format(standing.valid_until)}, advice)
    elif standing.valid_from or standing.valid_until:
        yield passes("valid", _("It is valid today."))


def _whose(standing: Standing, facts: Facts) -> Iterator[Finding]:
    """Return whether it is in what was searched, and for whoever asks."""
    names = {"collection": standing.collection, "searched": ", ".join(facts.searched) or "–"}
    if standing.collection_id not in facts.scope.collection_ids:
        text = _("Its collection, “%(collection)s”, was not searched; searched were: %(searched)s.") % names
        advice = _("Add the collection to those of the assistant, or move the document.")
        yield blocks("other_collection", text, advice)
    else:
        yield passes("searched", _("Its collection, “%(collection)s”, was searched.") % names)
    own, asked = standing.language.partition("-")[0], facts.question_language
    if facts.scope.language and own != facts.scope.language:
        text = _("Only documents in “%(searched)s” were searched; it is in “%(own)s”.")
        yield blocks("other_language", text % {"searched": facts.scope.language, "own": own})
    elif asked and own != asked:
        text = _(
            "It is in “%(own)s”, the question in “%(asked)s”: they share few words, so only meaning can join them."
        )
        yield note("language_differs", text % {"own": own, "asked": asked})
    for kind in sorted({read_kind(tag) for tag in facts.scope.audience}):
        tags = [tag for tag in standing.audience if read_kind(tag) == kind]
        if tags and not set(tags) & set(facts.scope.audience):
            text = _("It is for others than who asks: %(audience)s.") % {"audience": ", ".join(map(write_label, tags))}
            yield blocks("other_audience", text, _("Correct its audience, if it is wrong."))


def _index(standing: Standing) -> Iterator[Finding]:
    advice = _("Wait a moment; where that does not help, index it anew from the list of documents.")
    if standing.indexed is None:
        yield blocks("not_indexed", _("It is not indexed yet, so no search can find it."), advice)
    elif not standing.passages:
        text = _("No passage was made of it: it has no text.")
        yield blocks("no_passages", text, _("Give it a text; where it comes from a file, see whether that is a scan."))
    elif standing.withheld == standing.passages:
        text = _("All its passages are withheld, since they seem to speak to a program.")
        yield blocks("withheld", text, _("Check them under “Suspicious passages”, and clear what is harmless."))
    elif not standing.indexed:
        yield note("older_state", _("The index still holds an older state of it."), advice)
    else:
        text = ngettext(
            "It is indexed, as %(count)d passage.", "It is indexed, as %(count)d passages.", standing.passages
        )
        yield passes("indexed", text % {"count": standing.passages})
        if standing.withheld:
            text = ngettext("%(count)d of them is withheld.", "%(count)d of them are withheld.", standing.withheld)
            advice = _("Check them under “Suspicious passages”, and clear what is harmless.")
            yield note("some_withheld", text % {"count": standing.withheld}, advice)


#: Findings that say: others came first.
OUTRANKED = frozenset({"no_words", "not_retrieved", "behind", "reranked_down"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings in the order of the work. `would_faq_help`: the document can be found, only others came first."""

    findings: tuple[Finding, ...]
    would_faq_help: bool

    @property
    def cause(self) -> Finding | None:
        """The first that stops it; None where nothing does."""
        return next((each for each in self.findings if each.verdict == Verdict.BLOCKS), None)


def diagnose(facts: Facts, *, names: Mapping[str, str]) -> Diagnosis:
    """`names` says what codes of retrievers, and of reasons not to answer, mean for people."""
    gates = list(check_gates(facts))
    if any(each.verdict == Verdict.BLOCKS for each in gates) or not facts.places:
        return Diagnosis(tuple(gates), would_faq_help=False)
    search = list(_search(facts, names))
    is_outranked = any(each.code in OUTRANKED and each.verdict == Verdict.BLOCKS for each in search)
    uses_faqs = any(place.origin == Origin.FAQ for place in facts.places)
    is_linked = any(faq.steers for faq in facts.linked_faqs)
    return Diagnosis((*gates, *search), would_faq_help=is_outranked and uses_faqs and not is_linked)


# --- who found it, and what became of it? ---


def _search(facts: Facts, names: Mapping[str, str]) -> Iterator[Finding]:
    yield from _words(facts)
    for place in facts.places:
        yield from _faqs(place, facts) if place.origin == Origin.FAQ else [_found_by(place, names)]
    if facts.merged is None:
        text = _("No retriever handed it on, so it is not in the merged ranking.")
        yield blocks("not_retrieved", text, _("Say in it, best in a heading, what students ask for, in their words."))
        return
    if facts.merged.is_other_period:
        text = _("It was left out, because it is about another year or term than the question names.")
        yield blocks("other_period", text, _("Name the year or term that it is about in its title or a heading."))
        return
    if facts.merged.is_other_edition:
        text = _(
            "It gave way to another edition of its matter: the one of the term that is asked for, or the current one."
        )
        yield blocks("other_edition", text, _("If these are no editions of one matter, take it out of them."))
        return
    yield from _merged(facts.merged, facts.sources)
    if facts.merged.rank <= facts.sources and facts.outcome:
        yield from _outcome(facts.outcome, names)


def _words(facts: Facts) -> Iterator[Finding]:
    """Only where words are searched for."""
    searchers = {place.origin for place in facts.places} - {Origin.FAQ}
    if Origin.LEXICAL not in searchers or not (facts.words_in or facts.words_missing):
        return
    named = {"found": listed(facts.words_in), "missing": listed(facts.words_missing)}
    if not facts.words_in:
        text = _("None of the question’s words stands in it, in any form: %(missing)s.") % named
        advice = _("Write the words that students use into it, best into a heading.")
        is_blocked = searchers == {Origin.LEXICAL} and facts.merged is None
        yield Finding("no_words", Verdict.BLOCKS if is_blocked else Verdict.NOTE, text, advice)
    elif facts.words_missing:
        text = _("Of the question’s words these stand in it, in some form: %(found)s. These do not: %(missing)s.")
        yield note("some_words", text % named)
    else:
        yield passes("all_words", _("All of the question’s words stand in it, in some form: %(found)s.") % named)


def _found_by(place: Rank, names: Mapping[str, str]) -> Finding:
    values = {
        "name": names[place.origin],
        "rank": place.rank,
        "k": place.k,
        "looked_at": place.looked_at,
        "score": score_text(place.score),
        "last": score_text(place.last_score),
    }
    code = f"found:{place.origin}"
    if place.is_handed_on:
        text = _("%(name)s: its best passage is number %(rank)d (score %(score)s), among the first %(k)d, which count.")
        return passes(code, text % values)
    if place.rank is not None:
        text = _(
            "%(name)s: its best passage is number %(rank)d (score %(score)s). Only the first %(k)d count; the last of "
            "them has %(last)s."
        )
    elif place.last_score is None:
        text = _("%(name)s: nothing was found at all.")
    elif place.score is not None:
        text = _(
            "%(name)s: its best passage (score %(score)s) is not among the first %(looked_at)d found. Only the "
            "first %(k)d count; the last of them has %(last)s."
        )
    else:
        text = _(
            "%(name)s: it is not among the first %(looked_at)d found. Only the first %(k)d count; the last of them "
            "has %(last)s."
        )
    return note(code, text % values)


def _faqs(place: Rank, facts: Facts) -> Iterator[Finding]:
    if not facts.linked_faqs:
        text = _("Curated FAQs: no published FAQ that is valid today is linked to it.")
        yield note("no_faq", text, _("Link it to an FAQ that asks this."))
    for faq in facts.linked_faqs:
        yield _linked(faq, place)


def _linked(faq: LinkedFAQ, place: Rank) -> Finding:
    values = {"question": faq.question, "rank": faq.rank, "similarity": score_text(faq.similarity)}
    if faq.steers and place.is_handed_on:
        text = _("Curated FAQs: “%(question)s” is close (similarity %(similarity)s) and lifts it.")
        return passes("faq_lifts", text % values)
    if faq.rank is None:
        text = _("Curated FAQs: “%(question)s” is linked to it, but asks something far from this question.")
    else:
        text = _(
            "Curated FAQs: “%(question)s” is linked to it, but is number %(rank)d by closeness (similarity "
            "%(similarity)s), too far to lift it."
        )
    return note("faq_too_far", text % values, _("Add this question to the FAQ as another way to ask it, if it is one."))


def _merged(merged: Merged, sources: int) -> Iterator[Finding]:
    values = {
        "fused": merged.fused_rank,
        "score": score_text(merged.fused_score),
        "rank": merged.rank,
        "first": merged.rerank_first,
        "sources": sources,
        "last": score_text(merged.last_given_score),
    }
    for question, places in merged.pushed_by:
        text = ngettext(
            "The FAQ “%(question)s” put %(places)d passage before it.",
            "The FAQ “%(question)s” put %(places)d passages before it.",
            places,
        )
        advice = _("Where that FAQ asks something else, tell them apart by their phrasings.")
        yield note("pushed_by_faq", text % {"question": question, "places": places}, advice)
    is_given, was_given = merged.rank <= sources, merged.fused_rank <= sources
    if merged.rerank_first:
        yield _reranked(merged, values, is_given=is_given, was_given=was_given)
        if is_given or was_given:
            return
    if is_given:
        text = _("Merged, it is number %(fused)d (%(score)s); the answer is made from the first %(sources)d.")
        yield passes("given", text % values)
    else:
        text = _(
            "Merged, it is number %(fused)d (%(score)s). The answer is made from the first %(sources)d; the last of "
            "them has %(last)s."
        )
        yield blocks("behind", text % values, _("Say in it, best in a heading, what students ask for, in their words."))


def _reranked(merged: Merged, values: dict[str, object], *, is_given: bool, was_given: bool) -> Finding:
    if merged.fused_rank > merged.rerank_first:
        text = _("Merged, it is number %(fused)d: the reranker reads only the first %(first)d.")
        return note("not_reranked", text % values)
    text = (
        _("The reranker read it and moved it from number %(fused)d to %(rank)d; the first %(sources)d count.") % values
    )
    if is_given:
        return passes("reranked", text)
    return blocks("reranked_down", text) if was_given else note("reranked", text)


def _outcome(outcome: Outcome, names: Mapping[str, str]) -> Iterator[Finding]:
    if not outcome.concerns_asker:
        text = _("It was left out, because it is for others than the question names.")
        yield blocks("other_reader", text, _("Correct its audience, if it is wrong."))
    elif outcome.reason:
        text = _("It was found, but the assistant did not answer: %(reason)s") % {"reason": names[outcome.reason]}
        yield blocks("abstained", text)
    elif not outcome.fits_prompt:
        text = _("There was no room for it beside the other sources.")
        yield blocks("no_room", text, _("Have fewer passages given to an answer, in the retrieval profile."))
    elif outcome.is_cited:
        yield passes("cited", _("It was found, and the answer cites it."))
    else:
        yield note("not_cited", _("It was found and given to the answer, which does not cite it: others said more."))
