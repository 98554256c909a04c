"""Facts about a document and a question, from which `chat.playground.diagnosis` tells why it was not found."""

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Min
from django.utils import timezone
from pgvector import HalfVector
from pgvector.django import CosineDistance

from chat.models import Message
from chat.pipeline.question import Context
from chat.pipeline.understanding.clarify import matches_audience, mentioned_tags
from chat.playground.rankings import Share, faq_retriever, fusion_shares
from chat.playground.trial import Search, Trial
from core.language import detect_language
from core.terms import WORD, topic_words
from faqs.models import FAQ
from faqs.retriever import Match
from faqs.retriever import match as match_faqs
from knowledge.models import Collection, Document, IndexedDocument, Passage
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.live_index import served_generation
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import RankedPassage, RetrieverConfig
from knowledge.retrieval.types import Hit, Origin, Query, Scope


@dataclass(frozen=True, slots=True)
class Rank:
    """A document's best passage in one retriever's ranking, of which the first `k` are handed on.

    `rank` is None where it is not among the first `looked_at` found; `score` may be known all the same. `last_score`
    is that of the last passage handed on. None: there is none.
    """

    origin: str
    k: int
    looked_at: int
    rank: int | None = None
    score: float | None = None
    last_score: float | None = None

    @property
    def is_handed_on(self) -> bool:
        return self.rank is not None and self.rank <= self.k


@dataclass(frozen=True, slots=True)
class LinkedFAQ:
    """A published FAQ that is linked to the document: the `rank`-th closest, None where it is not among those looked
    at. `steers` says whether it lifts its documents."""

    question: str
    rank: int | None = None
    similarity: float = 0.0
    steers: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The document's best passage after fusion and after reranking, whose first `rerank_first` are read by the
    reranker (0: there is none). `pushed_by` are FAQs without whose documents it would be as many places further up.
    `is_other_period`: the question names a year or term, and all of its passages are about others.
    `is_other_edition`: they gave way to another edition."""

    fused_rank: int
    fused_score: float
    rank: int
    rerank_first: int = 0
    last_given_score: float | None = None
    pushed_by: tuple[tuple[str, int], ...] = ()
    is_other_period: bool = False
    is_other_edition: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fate of its passage: whether it concerns whom the question names, found room in the prompt, was cited.
    `reason` is why there was no answer; empty: there was one."""

    reason: str = ""
    concerns_asker: bool = True
    fits_prompt: bool = True
    is_cited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The document itself; `indexed` is None before its first indexing, else whether the index holds its present
    state, and `passages` what it was cut into there, of which
    `withheld` wait for staff to check them."""

    status: str
    collection_id: int
    collection: str
    language: str
    audience: tuple[str, ...] = ()
    valid_from: datetime.date | None = None
    valid_until: datetime.date | None = None
    indexed: bool | None = True
    passages: int = 1
    withheld: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """`scope` is what was searched, in collections of these names. The rest is known only of a document that can be
    found there, for a question that was looked up: `places` are in the order of the profile's retrievers."""

    standing: Standing
    scope: Scope
    searched: tuple[str, ...]
    is_question: bool = True
    question_language: str | None = None
    sources: int = 6
    words_in: tuple[str, ...] = ()
    words_missing: tuple[str, ...] = ()
    places: tuple[Rank, ...] = ()
    linked_faqs: tuple[LinkedFAQ, ...] = ()
    merged: Merged | None = None
    outcome: Outcome | None = None


#: How deep each ranking is searched for the document, in passages and in FAQs.
PASSAGES_DEEP, FAQS_DEEP = 1000, 100
#: Words of the question that are looked up, one search each.
MOST_WORDS = 24
WORDS = LexicalRetriever()


def collect_facts(document: Document, trial: Trial) -> Facts:
    """`document` comes with its collection. So many queries whatever was found, but for the words: one search each, in
    this process's index. Raises UnknownCollection."""
    ask, search, question = trial.ask, trial.search, trial.reading.turn.question
    scope = search.scope if search else build_scope(ask.collections, audience=ask.audience)
    facts = Facts(
        standing=_standing(document, search.retrieval.query.generation_id if search else served_generation().pk),
        scope=scope,
        searched=tuple(Collection.objects.filter(pk__in=scope.collection_ids).values_list("name", flat=True)),
        is_question=trial.reading.turn.route == Message.Route.QUESTION,
        question_language=detect_language(question),
        sources=ask.profile.sources,
    )
    if search is None or not _can_be_found(document, scope):
        return facts
    query = search.retrieval.query
    words_in, words_missing = _words(question, query, scope, document)
    matcher = faq_retriever(ask.profile)
    near = match_faqs(query, scope=scope, faqs=FAQS_DEEP, learned=matcher.learned) if matcher else []
    places = []
    for leg in ask.profile.legs:
        run = leg.retriever.retrieve(query, k=max(leg.k, PASSAGES_DEEP), scope=scope)
        places.append(_place(leg, run, document, query))
    return replace(
        facts,
        words_in=words_in,
        words_missing=words_missing,
        places=tuple(places),
        linked_faqs=_linked_faqs(document, near, trial) if search.matches_faqs else (),
        merged=_merged(document, near, trial, search),
        outcome=_outcome(document, trial, search),
    )


def _standing(document: Document, generation_id: int) -> Standing:
    state = IndexedDocument.objects.filter(document=document, generation=generation_id).first()
    passages = Passage.objects.filter(document=document, generation=generation_id)
    return Standing(
        status=document.status,
        collection_id=document.collection_id,
        collection=document.collection.name,
        language=document.language,
        audience=tuple(document.audience),
        valid_from=document.valid_from,
        valid_until=document.valid_until,
        indexed=state.state_hash == document.state_hash if state else None,
        passages=passages.count(),
        withheld=passages.filter(is_withheld=True).count(),
    )


def _can_be_found(document: Document, scope: Scope) -> bool:
    found = Document.objects.published().valid_on(scope.on).filter(collection__in=scope.collection_ids)
    return found.filter(pk=document.pk).exists()


def _words(question: str, query: Query, scope: Scope, document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the question's words that the document has, by the search that ranks it, and those it lacks."""
    said = [word for each in topic_words(question) for word in WORD.findall(each)]
    words = list(dict.fromkeys(said))[:MOST_WORDS]
    own = replace(scope, collection_ids=(document.collection_id,))
    passages = Passage.objects.retrievable(query.generation_id).in_collections(own.collection_ids).count()
    found = set()
    for word in words:
        hits = WORDS.retrieve(replace(query, text=word), k=max(1, passages), scope=own)
        if any(hit.document_id == document.pk for hit in hits):
            found.add(word)
    return tuple(word for word in words if word in found), tuple(word for word in words if word not in found)


def _place(leg: RetrieverConfig, run: Sequence[Hit], document: Document, query: Query) -> Rank:
    best = next((hit for hit in run if hit.document_id == document.pk), None)
    handed_on = run[: leg.k]
    score = best.score if best else None
    if best is None and leg.retriever.origin == Origin.DENSE:
        score = _similarity(document, query)
    return Rank(
        origin=leg.retriever.origin,
        k=leg.k,
        looked_at=len(run),
        rank=best.rank if best else None,
        score=score,
        last_score=handed_on[-1].score if handed_on else None,
    )


def _similarity(document: Document, query: Query) -> float | None:
    """Of its closest passage, as `DenseRetriever` would score it; None where it has none."""
    passages = Passage.objects.filter(document=document, generation=query.generation_id)
    distance = passages.aggregate(least=Min(CosineDistance("embedding", HalfVector(query.vector))))["least"]
    return None if distance is None else query.scale.of_passage(1 - distance)


def _linked_faqs(document: Document, near: Sequence[Match], trial: Trial) -> tuple[LinkedFAQ, ...]:
    """Closest first, those that are far from the question last."""
    on = timezone.localdate()
    linked = dict(FAQ.objects.published().valid_on(on).filter(sources__document=document).values_list("pk", "question"))
    ranks: dict[int, tuple[int, Match]] = {}
    for found in near:
        ranks.setdefault(found.faq_id, (len(ranks) + 1, found))
    matcher = faq_retriever(trial.ask.profile)
    best = near[0].similarity if near else 0.0

    def described(faq_id: int) -> LinkedFAQ:
        if faq_id not in ranks or matcher is None:
            return LinkedFAQ(linked[faq_id])
        rank, found = ranks[faq_id]
        steers = rank <= matcher.faqs and matcher.weight(found, best) > 0
        return LinkedFAQ(linked[faq_id], rank, found.similarity, steers)

    def place(faq_id: int) -> int:
        return ranks[faq_id][0] if faq_id in ranks else FAQS_DEEP + 1

    return tuple(described(faq_id) for faq_id in sorted(linked, key=place))


def _merged(document: Document, near: Sequence[Match], trial: Trial, search: Search) -> Merged | None:
    """Return the place of its best passage in the fused ranking.

    None if no retriever handed one on, or if it counts for nothing, as those of an FAQ do that is too far.
    """
    profile, hits = trial.ask.profile, [hit for hit in search.retrieval.hits if hit.score > 0]
    # The order of `knowledge.retrieval.fusion`, which a reranker may have changed since.
    in_fusion = sorted(hits, key=lambda hit: (-round(hit.score, 12), hit.passage_id))
    own = next(((rank, hit) for rank, hit in enumerate(in_fusion, start=1) if hit.document_id == document.pk), None)
    if own is None:
        return None
    fused_rank, best = own
    last_given = in_fusion[: profile.sources][-1]
    return Merged(
        fused_rank=fused_rank,
        fused_score=best.score,
        rank=min(hit.rank for hit in hits if hit.document_id == document.pk),
        rerank_first=profile.plan.rerank_first,
        last_given_score=last_given.score,
        pushed_by=pushed_by(best, in_fusion, fusion_shares(search.retrieval, profile), near),
        is_other_period=all(
            hit.passage_id in search.retrieval.other_periods for hit in hits if hit.document_id == document.pk
        ),
        is_other_edition=all(
            hit.passage_id in search.retrieval.left_out for hit in hits if hit.document_id == document.pk
        ),
    )


def pushed_by(
    passage: RankedPassage,
    in_fusion: Sequence[RankedPassage],
    shares: Mapping[int, Sequence[Share]],
    near: Sequence[Match],
) -> tuple[tuple[str, int], ...]:
    """Return the FAQs that put others before the passage, and how many would be behind it without that."""
    questions: dict[int, str] = {}
    for found in near:
        questions.setdefault(found.passage_id, found.question)
    pushed: Counter[str] = Counter()
    for other in in_fusion:
        by_faq = sum(share.value for share in shares[other.passage_id] if share.origin == Origin.FAQ)
        if other.document_id != passage.document_id and other.score - by_faq < passage.score < other.score:
            pushed[questions[other.passage_id]] += 1
    return tuple(pushed.most_common())


def suits_asker(document: Document, context: Context) -> bool:
    """Return whether it concerns those whom the question names, if it names any; `chat.pipeline.run` asks the same."""
    named = mentioned_tags(context.turn.question, context.found)
    return all(matches_audience(each, named) for each in context.found if each.document_id == document.pk)


def _outcome(document: Document, trial: Trial, search: Search) -> Outcome:
    """Return why there was no answer, as a code of `chat.admin.conversations`.

    If there was one, return what it made of the document.
    """
    reply, end, prompt = trial.reply, trial.end, trial.sent.prompt
    reason = reply.reason or (end.notice if end.status == Message.Status.FAILED else "")
    return Outcome(
        reason=Message.Status.CLARIFYING.value if end.status == Message.Status.CLARIFYING else reason,
        concerns_asker=suits_asker(document, search.context),
        fits_prompt=prompt is None or any(each.document_id == document.pk for each in prompt.candidates),
        is_cited=any(document_id == document.pk for _source, document_id in reply.sources),
    )
