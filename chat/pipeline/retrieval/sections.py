"""Further passages of a section that a question names: those with a value under the label that it asks for.

A module's record is cut into several passages. The one that says what it is about is found, the one with its
examinations or prerequisites often not, since it has no other word of the question than its heading.
"""

from collections.abc import Sequence
from dataclasses import replace

from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.sentences.labelled import read_labels
from chat.pipeline.sentences.plans import PLAN, read_plan
from chat.pipeline.sentences.quotable import quotable
from chat.pipeline.tuning import MOST_OF_SECTIONS
from core.db.prepared import fetch_all
from knowledge.retrieval.search import RankedPassage, Retrieval

BESIDE = """
SELECT passage.id, passage.document_id
FROM knowledge_passage AS found JOIN knowledge_passage AS passage ON passage.document_id = found.document_id
    AND passage.generation_id = found.generation_id AND passage.heading_path = found.heading_path
WHERE found.id = ANY(%(found)s::bigint[]) AND passage.id <> ALL(%(known)s::bigint[])
ORDER BY array_position(%(found)s::bigint[], found.id), passage.position
"""
PLANS = """
SELECT passage.id, passage.document_id
FROM knowledge_passage AS found JOIN knowledge_passage AS passage ON passage.document_id = found.document_id
    AND passage.generation_id = found.generation_id
WHERE found.id = ANY(%(found)s::bigint[]) AND passage.id <> ALL(%(known)s::bigint[])
    AND EXISTS (
        SELECT FROM knowledge_passage AS first WHERE first.document_id = passage.document_id
        AND first.generation_id = passage.generation_id AND first.heading_path = passage.heading_path
        AND first.position BETWEEN passage.position - %(length)s AND passage.position
        AND (array_to_string(first.heading_path, ' ') ~* %(plan)s OR left(first.text, %(beginning)s) ~* %(plan)s)
    )
ORDER BY array_position(%(found)s::bigint[], found.id), passage.position
"""
#: Documents whose plans are looked for: the best ones.
PLANNED = 2
#: Passages that a plan may be cut into, behind its first.
PLAN_LENGTH = 3
#: Where a plan is named in a passage without a heading.
BEGINNING = 300


def add_named_sections(
    question: str, candidates: Sequence[Candidate], retrieval: Retrieval, *, language: str
) -> list[Candidate]:
    """Return the candidates with those further passages of their sections behind them; two queries if any is named.

    `language` is the one that editions are named in; where it is empty, they are not.
    """
    labels, plan = read_labels(question), read_plan(question)
    known = list({each.passage_id for each in candidates} | retrieval.left_out)
    named = [each.passage_id for each in candidates if labels.name(each)] if labels.keys else []
    best = {each.document_id: each.passage_id for each in reversed(candidates)} if plan.words else {}
    added: list[Candidate] = []
    if named:
        found = _load(BESIDE, language, found=named, known=known)
        added += [each for each in found if any(labels.are_said(quote) for quote in quotable(each.text))]
    if first := [best[each] for each in dict.fromkeys(each.document_id for each in candidates) if each in best]:
        found = _load(
            PLANS, language, found=first[:PLANNED], known=known, plan=PLAN, length=PLAN_LENGTH, beginning=BEGINNING
        )
        added += [each for each in found if any(plan.shorten(each, quote) for quote in quotable(each.text))]
    read = [*candidates, *added[:MOST_OF_SECTIONS]]
    return [replace(each, number=place, rank=place) for place, each in enumerate(read, start=1)]


def _load(statement: str, language: str, **parameters: object) -> list[Candidate]:
    rows = dict(fetch_all(statement, parameters))
    hits = [RankedPassage(passage, document, 0, 0.0, {}) for passage, document in rows.items()]
    return load_candidates(hits, language=language) if hits else []
