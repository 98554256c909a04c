"""Judgement of answers to questions asked again: they must rest on a recent change, and be about the question."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Max

from analytics.gaps.answered.asking import AskedAgain, ask_again
from analytics.gaps.answered.subjects import Text, is_about, read_text, shared_keys
from analytics.models import Gap
from chat.models import Assistant
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.evidence import SIMILARITIES, measure_evidence
from chat.pipeline.sentences.quotable import quotable
from faqs.models import FAQ
from faqs.retriever import confidence, learned_confidence, match
from knowledge.models import Document
from knowledge.retrieval.query_vectors import multilingual_vectors
from knowledge.retrieval.search import Retrieval
from knowledge.words.readings import Step

Why = Gap.Unanswered
#: How far a curated question must be able to steer to count as the same.
SURE = 0.5
FAQS = 3
#: Cosine of two words of different languages from which they mean the same. Of translations ("Hund", "dog") most have
#: 0.90 and more, of words of one kind ("Hund", "cat") 0.88 and less.
TRANSLATED = 0.89


@dataclass(frozen=True, slots=True)
class Cover:
    """The FAQ or document that a question is answered by now, what staff call it, and when it last changed.

    `url` is the page on which the answer to this question stands.
    """

    at: datetime
    title: str
    faq_id: int | None = None
    document_id: int | None = None
    url: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a topic is answered by now, or else why it is not."""

    cover: Cover | None = None
    because: Gap.Unanswered | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A possible cover of one question, with its text."""

    cover: Cover
    text: Text


def newest_change() -> datetime | None:
    """Return when a published FAQ or document last changed; what was asked since is not answered by any."""
    changes = (
        FAQ.objects.published().aggregate(at=Max("updated_at"))["at"],
        Document.objects.published().aggregate(at=Max("created_at"))["at"],
        Document.objects.published().aggregate(at=Max("altered_at"))["at"],
    )
    return max((at for at in changes if at), default=None)


def find_cover(assistant: Assistant | None, questions: Sequence[str], language: str, *, since: datetime) -> Judgement:
    """Return what most of the questions, all of one meaning, are answered by that changed after `since`.

    For half of them at least it must have the words that they are about.
    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection.
    """
    shared = shared_keys(questions)
    replied, answered, about = 0, 0, Counter[Cover]()
    for place, question in enumerate(questions):
        again = ask_again(assistant, question, language)
        found = [*_by_faqs(again, since), *_by_documents(again, since)] if again else []
        replied += again is not None
        answered += bool(found)
        fits = next((each.cover for each in found if again and _is_about(again, each.text, shared)), None)
        about.update([fits] if fits else [])
        left = len(questions) - place - 1
        if 2 * (answered + left) <= len(questions):
            is_replied = 2 * (replied + left) > len(questions)
            return Judgement(because=Why.NOT_BY_CHANGE if is_replied else Why.NOTHING_FOUND)
    if about and 2 * about.total() >= len(questions):
        return Judgement(about.most_common(1)[0][0])
    return Judgement(because=Why.OTHER_MATTER)


def _by_faqs(again: AskedAgain, since: datetime) -> list[Found]:
    """Return the changed FAQs whose answer is shown, or whose documents are cited because they surely were meant."""
    retrieval, office = again.context.retrieval, again.context.office
    if retrieval is None or not len(retrieval.query.vector):  # a profile of words alone matches no FAQs
        return []
    cited = {each.document_id: each.url for each in _cited(again)}
    learned = any(getattr(leg.retriever, "learned", False) for leg in again.context.ask.profile.legs)
    sure = {office.faq_id: office.url} if office else {}
    for each in match(retrieval.query, scope=again.scope, faqs=FAQS, learned=learned):
        weighs = learned_confidence(each.probability) if each.is_learned else confidence(each.similarity)
        if weighs >= SURE and each.document_id in cited:
            sure.setdefault(each.faq_id, cited[each.document_id])
    faqs = FAQ.objects.filter(updated_at__gt=since).prefetch_related("phrasings").in_bulk(list(sure))
    return [
        Found(Cover(faqs[pk].updated_at, faqs[pk].question, faq_id=pk, url=url), _read_faq(faqs[pk]))
        for pk, url in sure.items()
        if pk in faqs
    ]


def _cited(again: AskedAgain) -> list[Candidate]:
    """Return the passages that the answer cites, in its order."""
    candidates = {each.passage_id: each for each in again.context.candidates}
    return [candidates[event.passage_id] for event in again.reply.cited if event.passage_id in candidates]


def _read_faq(faq: FAQ) -> Text:
    asks = "\n".join([faq.question, *(phrasing.text for phrasing in faq.phrasings.all())])
    answers = [sentence for text in faq.written_answers.values() for sentence in _sentences(text)]
    return read_text((asks, *answers), faq.language)


def _sentences(markdown: str) -> list[str]:
    return [each.text for each in quotable(markdown)]


def _by_documents(again: AskedAgain, since: datetime) -> list[Found]:
    """Return the cited documents that changed and are evidence enough by themselves, in the order of the answer."""
    context = again.context
    if context.retrieval is None:
        return []
    cited = _cited(again)
    changed = _changed({each.document_id for each in cited}, since)
    question, threshold = context.turn.question, context.ask.profile.threshold
    return [
        Found(
            Cover(changed[each.document_id], each.title or each.url, document_id=each.document_id, url=each.url),
            read_text((each.label, *_sentences(each.text)), each.language),
        )
        for each in cited
        if each.document_id in changed and evidence_alone(question, context.retrieval, each) >= threshold
    ]


def _changed(document_ids: Iterable[int], since: datetime) -> Mapping[int, datetime]:
    rows = Document.objects.filter(pk__in=document_ids, is_written_answer=False)
    times = rows.values_list("pk", "created_at", "altered_at")
    last = {pk: max(created, altered or created) for pk, created, altered in times}
    return {pk: at for pk, at in last.items() if at > since}


def evidence_alone(question: str, retrieval: Retrieval, candidate: Candidate) -> float:
    """Return the evidence that the assistant would see in this document alone; 0 if only its words were found."""
    compares = any(origin in retrieval.runs for origin in SIMILARITIES)
    runs = {
        origin: [hit for hit in run if hit.document_id == candidate.document_id]
        for origin, run in retrieval.runs.items()
    }
    if compares and not any(runs.get(origin) for origin in SIMILARITIES):
        return 0.0
    return measure_evidence(question, replace(retrieval, runs=runs), [candidate])


def _is_about(again: AskedAgain, text: Text, shared: AbstractSet[str]) -> bool:
    retrieval = again.context.retrieval
    readings: dict[str, list[str]] = {}
    for reading in retrieval.readings if retrieval else ():
        if reading.step != Step.SPELLING:
            readings.setdefault(reading.word, []).extend(reading.read_as)
    question = again.context.turn.question
    return is_about(question, text, shared=shared, readings=readings, translates=_translates)


def _translates(word: str, words: Sequence[str]) -> bool:
    """Return whether one of the words means the same in another language."""
    vectors = multilingual_vectors([word, *words])
    return bool(len(words)) and float((vectors[1:] @ vectors[0]).max()) >= TRANSLATED
