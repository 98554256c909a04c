"""Gathers what `chat.playground.diagnosing` tells of a document that a trial's answer is not made from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.models import Min
from django.utils import timezone
from pgvector import HalfVector
from pgvector.django import CosineDistance

from chat.clarifying import named_tags, suits
from chat.context import Context
from chat.models import Message
from chat.playground.facts import Facts, LinkedFAQ, Merged, Outcome, Place, Standing
from chat.playground.rankings import Share, matcher_of, shares_of
from chat.playground.trying import Search, Trial
from chat.rewriting import topic_words
from chat.wording import WORD
from faqs.matching import Match
from faqs.matching import match as match_faqs
from faqs.models import FAQ
from knowledge.languages import language_of
from knowledge.models import Collection, Document, IndexedDocument, Passage
from knowledge.retrieval.contracts import Hit, Origin, Query, Scope
from knowledge.retrieval.hybrid import Fused, Leg
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.scoping import scope_of
from knowledge.retrieval.serving import served_generation

#: How deep each ranking is searched for the document, in passages and in FAQs.
PASSAGES_DEEP, FAQS_DEEP = 1000, 100
#: Words of the question that are looked up, one search each.
MOST_WORDS = 24
WORDS = LexicalRetriever()


def facts_of(document: Document, trial: Trial) -> Facts:
    """`document` comes with its collection. So many queries whatever was found, but for the words: one search each, in
    this process's index. Raises UnknownCollection."""
    ask, search, question = trial.ask, trial.search, trial.reading.turn.question
    scope = search.scope if search else scope_of(ask.collections, audience=ask.audience)
    facts = Facts(
        standing=_standing(document, search.retrieval.query.generation_id if search else served_generation().pk),
        scope=scope,
        searched=tuple(Collection.objects.filter(pk__in=scope.collection_ids).values_list("name", flat=True)),
        is_question=trial.reading.turn.route == Message.Route.QUESTION,
        question_language=language_of(question),
        sources=ask.profile.sources,
    )
    if search is None or not _can_be_found(document, scope):
        return facts
    query = search.retrieval.query
    words_in, words_missing = _words(question, query, scope, document)
    near = match_faqs(query, scope=scope, faqs=FAQS_DEEP) if search.matches_faqs else []
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
    """The question's words that stand in the document, by the very search that ranks it, and those that do not."""
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


def _place(leg: Leg, run: Sequence[Hit], document: Document, query: Query) -> Place:
    best = next((hit for hit in run if hit.document_id == document.pk), None)
    handed_on = run[: leg.k]
    score = best.score if best else None
    if best is None and leg.retriever.origin == Origin.DENSE:
        score = _similarity(document, query)
    return Place(
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
    ranks: dict[int, tuple[int, float]] = {}
    for found in near:
        ranks.setdefault(found.faq_id, (len(ranks) + 1, found.similarity))
    matcher = matcher_of(trial.ask.profile)
    best = near[0].similarity if near else 0.0

    def described(faq_id: int) -> LinkedFAQ:
        if faq_id not in ranks or matcher is None:
            return LinkedFAQ(linked[faq_id])
        rank, similarity = ranks[faq_id]
        steers = rank <= matcher.faqs and matcher.weight(similarity, best) > 0
        return LinkedFAQ(linked[faq_id], rank, similarity, steers)

    return tuple(described(faq_id) for faq_id in sorted(linked, key=lambda pk: ranks.get(pk, (FAQS_DEEP + 1, 0.0))))


def _merged(document: Document, near: Sequence[Match], trial: Trial, search: Search) -> Merged | None:
    """Where its best passage came in; None where no retriever handed one on, or that counts for nothing, as those of
    an FAQ do that is too far."""
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
        pushed_by=pushed_by(best, in_fusion, shares_of(search.retrieval, profile), near),
        is_other_period=all(
            hit.passage_id in search.retrieval.other_periods for hit in hits if hit.document_id == document.pk
        ),
    )


def pushed_by(
    passage: Fused, in_fusion: Sequence[Fused], shares: Mapping[int, Sequence[Share]], near: Sequence[Match]
) -> tuple[tuple[str, int], ...]:
    """The FAQs that put others before the passage, and how many: those would be behind it without the FAQ's share."""
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
    """Whether it concerns those whom the question names, if it names any; `chat.answering` asks the same."""
    named = named_tags(context.turn.question, context.found)
    return all(suits(each, named) for each in context.found if each.document_id == document.pk)


def _outcome(document: Document, trial: Trial, search: Search) -> Outcome:
    """Why there was no answer, as a code of `chat.admin.labels`; else what the answer made of the document."""
    reply, end, prompt = trial.reply, trial.end, trial.sent.prompt
    reason = reply.reason or (end.notice if end.status == Message.Status.FAILED else "")
    return Outcome(
        reason=Message.Status.CLARIFYING.value if end.status == Message.Status.CLARIFYING else reason,
        concerns_asker=suits_asker(document, search.context),
        fits_prompt=prompt is None or any(each.document_id == document.pk for each in prompt.candidates),
        is_cited=any(document_id == document.pk for _source, document_id in reply.sources),
    )
