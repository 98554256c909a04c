"""Coverage of a set's collections by its questions, to be read beside any measure of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from django.db.models import Count, Q

from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from knowledge.models import Document, Granularity, Passage, Unit

Status = EvaluationQuestion.Status
#: Classes by questions a document, each with its upper bound.
CLASSES = {"0": 0, "1": 1, "2-4": 4}
LAST_CLASS = "5+"


@dataclass(frozen=True, slots=True)
class Spread:
    """The number of values and their quantiles; None without values."""

    count: int
    mean: float | None
    median: float | None
    most: int | None


@dataclass(frozen=True, slots=True)
class Share:
    """`covered` of `all` in scope."""

    all: int
    covered: int

    @property
    def ratio(self) -> float | None:
        return self.covered / self.all if self.all else None


@dataclass(frozen=True, slots=True)
class UnitCoverage:
    """Sentences or propositions in scope that answer a question, and how many answer one that was annotated."""

    units: Share
    per_question: Spread


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the accepted questions, which are those that runs ask; `proposed` ones wait for review.

    In scope are the published documents of the set's collections and their passages in the live generation.
    `passages_of_documents` counts every passage of a judged document, `passages` only those that are themselves judged.
    """

    questions: int
    answerable: int
    unanswerable: int
    judged: int
    proposed: int
    documents: Share
    passages_of_documents: Share
    passages: Share
    judgments: Spread
    questions_per_document: Mapping[str, int]
    question_words: float | None
    reference_words: float | None
    languages: Mapping[str, int]
    units: Mapping[str, UnitCoverage]


@dataclass(frozen=True, slots=True)
class _Judged:
    question_id: int
    document_id: int
    is_in_scope: bool
    language: str
    passages: Sequence[str]
    units: Sequence[Mapping[str, str]] | None


def measure_coverage(evaluation_set: EvaluationSet) -> Coverage:
    """Measure what a set covers, in a constant number of queries."""
    collections = list(evaluation_set.collections.values_list("pk", flat=True))
    questions = evaluation_set.questions.exclude(status=Status.REJECTED)
    rows = list(questions.values("text", "reference", "answerable", "status"))
    accepted = [row for row in rows if row["status"] == Status.ACCEPTED]
    judged = _judged(evaluation_set, collections)
    documents = Document.objects.published().filter(collection__in=collections).count()
    asked_of = Counter(each.document_id for each in judged if each.is_in_scope)
    of_documents, passages = _passages(collections, judged)
    per_question = Counter(each.question_id for each in judged)
    return Coverage(
        questions=len(accepted),
        answerable=sum(row["answerable"] is True for row in accepted),
        unanswerable=sum(row["answerable"] is False for row in accepted),
        judged=len(per_question),
        proposed=len(rows) - len(accepted),
        documents=Share(documents, len(asked_of)),
        passages_of_documents=of_documents,
        passages=passages,
        judgments=_spread(per_question.values()),
        questions_per_document=_histogram(asked_of.values(), documents),
        question_words=_words(row["text"] for row in accepted),
        reference_words=_words(row["reference"] for row in accepted if row["reference"]),
        languages=_languages(judged),
        units=_units(collections, judged),
    )


def _judged(evaluation_set: EvaluationSet, collections: Sequence[int]) -> list[_Judged]:
    rows = Judgment.objects.filter(
        question__evaluation_set=evaluation_set, question__status=Status.ACCEPTED, grade__gt=0
    )
    found = rows.values_list(
        "question_id",
        "document_id",
        "document__status",
        "document__collection_id",
        "document__language",
        "passages",
        "units",
    )
    return [
        _Judged(
            question,
            document,
            status == Document.Status.PUBLISHED and collection in collections,
            language,
            hashes,
            units,
        )
        for question, document, status, collection, language, hashes, units in found
    ]


def _passages(collections: Sequence[int], judged: Sequence[_Judged]) -> tuple[Share, Share]:
    in_scope = Passage.objects.live().in_collections(collections).filter(document__status=Document.Status.PUBLISHED)
    of_judged = Q(document__in={each.document_id for each in judged})
    counts = in_scope.aggregate(all=Count("pk"), covered=Count("pk", filter=of_judged))
    pairs = {(each.document_id, passage) for each in judged for passage in each.passages}
    there = in_scope.filter(input_hash__in={passage for _document, passage in pairs})
    covered = sum(pair in pairs for pair in there.values_list("document_id", "input_hash"))
    return Share(counts["all"], counts["covered"]), Share(counts["all"], covered)


def _units(collections: Sequence[int], judged: Sequence[_Judged]) -> dict[str, UnitCoverage]:
    """Count units by the granularities that the collections have."""
    in_scope = Unit.objects.filter(
        passage__generation__state="live",
        passage__document__status=Document.Status.PUBLISHED,
        passage__document__collection__in=collections,
    )
    counts = dict(in_scope.order_by().values_list("granularity").annotate(count=Count("pk")))
    annotated = [each for each in judged if each.units is not None]
    marked = {
        (each.document_id, unit["passage"], unit["granularity"], unit["text"])
        for each in annotated
        for unit in each.units or ()
    }
    there = in_scope.filter(passage__input_hash__in={passage for _document, passage, *_rest in marked}).values_list(
        "passage__document_id", "passage__input_hash", "granularity", "text"
    )
    covered = Counter(unit[2] for unit in there if unit in marked)
    found = {}
    for granularity in Granularity.values:
        if granularity in counts:
            per_question: Counter[int] = Counter()
            for each in annotated:
                per_question[each.question_id] += sum(unit["granularity"] == granularity for unit in each.units or ())
            share = Share(counts[granularity], covered[granularity])
            found[granularity] = UnitCoverage(share, _spread(per_question.values()))
    return found


def _spread(values: Iterable[int]) -> Spread:
    values = list(values)
    return (
        Spread(len(values), fmean(values), float(median(values)), max(values))
        if values
        else Spread(0, None, None, None)
    )


def _histogram(counts: Iterable[int], documents: int) -> dict[str, int]:
    """Count the documents by their number of questions."""
    counts = list(counts)
    classes = Counter(next((name for name, most in CLASSES.items() if count <= most), LAST_CLASS) for count in counts)
    classes["0"] = documents - len(counts)
    return {name: classes[name] for name in (*CLASSES, LAST_CLASS)}


def _words(texts: Iterable[str]) -> float | None:
    lengths = [len(text.split()) for text in texts]
    return fmean(lengths) if lengths else None


def _languages(judged: Iterable[_Judged]) -> dict[str, int]:
    """Count questions by the language of the documents that answer them."""
    languages = {(each.question_id, each.language) for each in judged}
    return dict(sorted(Counter(language for _question, language in languages).items()))
