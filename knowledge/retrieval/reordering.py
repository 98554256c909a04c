"""Reordering a ranking by the texts of its passages: with a cross-encoder, or by the year or programme asked for."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from core.db.prepared import fetch_all
from core.inference.reranker import Reranker
from knowledge.chunking.period_match import grade_passage
from knowledge.chunking.periods import Grade, Period
from knowledge.editions.programmes import choose_programmes, names_programme
from knowledge.retrieval.editions import EditionsFound
from knowledge.retrieval.tuning import LEAST_PROGRAMME_SHARE

TEXTS = """
SELECT passage.id, passage.document_id, document.title, passage.heading_path, passage.text
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE passage.id = ANY(%s::bigint[])
"""
TITLES = "SELECT id, title FROM knowledge_document WHERE id = ANY(%s::bigint[])"


def rerank(
    question: str, passages: Sequence[int], *, first: int, protected: Collection[int], reranker: Reranker
) -> list[int]:
    """Rerank the `first` passages with the cross-encoder; `protected` ones keep their places.

    The Marcel paper lost 31% of its MRR by reranking what curated FAQs had put first. One query for the texts.
    """
    head = [passage for passage in passages[:first] if passage not in protected]
    texts = {pk: "\n".join((title, *path, text)) for pk, _document, title, path, text in _read_texts(head)}
    known = [passage for passage in head if passage in texts]
    scores = reranker.scores(question, [texts[passage] for passage in known])
    ordered = iter([known[place] for place in (-scores).argsort(kind="stable")])
    result = [passage if passage not in texts else next(ordered) for passage in passages[:first]]
    return [*result, *passages[first:]]


def put_other_periods_last(
    passages: Sequence[int], wanted: Sequence[Period], editions: EditionsFound
) -> tuple[list[int], AbstractSet[int]]:
    """Return the passages in their order, with those of other periods at the end, and the latter's ids.

    A passage that only mentions the period under the title of another comes between. One query for the texts.
    """
    places = {}
    for pk, document, title, path, text in _read_texts(passages):
        periods = editions.wanted(document, wanted)
        if not periods:
            continue
        best, label = grade_passage(periods, (editions.label(document, title), *path), text)
        places[pk] = 2 if best == Grade.OTHER else 1 if label == Grade.OTHER else 0
    order = sorted(passages, key=lambda passage: places.get(passage, 0))
    return order, {passage for passage, place in places.items() if place == 2}


def prefer_programmes(
    order: Sequence[int], documents: Mapping[int, int], scores: Mapping[int, float], question: str
) -> list[int]:
    """Return the passages with those of the programme named before those of documents that differ in it.

    Such a passage gives way if the programme's best one has some share of its score, and else keeps its place.
    `documents` has each passage's document. One query, if the question names a degree or speaks of a programme.
    """
    if not names_programme(question):
        return list(order)
    titles = dict(fetch_all(TITLES, [list({documents[passage] for passage in order})]))
    behind: set[int] = set()
    for named, others in choose_programmes(question, titles):
        best = max(scores.get(passage, 0.0) for passage in order if documents[passage] in named)
        of_others = {passage for passage in order if documents[passage] in others}
        behind |= {passage for passage in of_others if best >= LEAST_PROGRAMME_SHARE * scores.get(passage, 0.0)}
    return [*(passage for passage in order if passage not in behind), *(each for each in order if each in behind)]


def _read_texts(passages: Sequence[int]) -> Iterator[tuple[int, int, str, tuple[str, ...], str]]:
    """Yield (id, document's id, title, headings, text) of each passage that is still there."""
    for pk, document, title, path, text in fetch_all(TEXTS, [list(passages)]):
        yield pk, document, title, tuple(path), text
