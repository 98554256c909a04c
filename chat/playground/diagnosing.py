"""Why a document is not among an answer's sources, in plain language and in the order of the work; pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.playground.facts import Facts, LinkedFAQ, Merged, Outcome, Place
from chat.playground.findings import Finding, Verdict, blocks, listed, note, passes, score_text
from chat.playground.gates import gates_of
from knowledge.retrieval.contracts import Origin

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
    gates = list(gates_of(facts))
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


def _found_by(place: Place, names: Mapping[str, str]) -> Finding:
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


def _faqs(place: Place, facts: Facts) -> Iterator[Finding]:
    if not facts.linked_faqs:
        text = _("Curated FAQs: no published FAQ that is valid today is linked to it.")
        yield note("no_faq", text, _("Link it to an FAQ that asks this."))
    for faq in facts.linked_faqs:
        yield _linked(faq, place)


def _linked(faq: LinkedFAQ, place: Place) -> Finding:
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
        text = _("There was no room for it in the prompt (LLM_CONTEXT_TOKENS).")
        yield blocks("no_room", text, _("Have fewer passages given to an answer, in the retrieval profile."))
    elif outcome.is_cited:
        yield passes("cited", _("It was found, and the answer cites it."))
    else:
        yield note("not_cited", _("It was found and given to the answer, which does not cite it: others said more."))
