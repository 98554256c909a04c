"""Further passages of a section that a question names: those with a value under the label that it asks for.

A module's record is cut into several passages. The one that says what it is about is found, the one with its
examinations or prerequisites often not, since it has no other word of the question than its heading.
"""

from collections.abc import Sequence
from dataclasses import replace

from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.sentences.labelled import asked_labels, is_named, says
from chat.pipeline.sentences.quotable import quotable
from chat.pipeline.tuning import MOST_OF_SECTIONS
from core.db.prepared import fetch_all
from core.terms import content_words
from knowledge.retrieval.search import RankedPassage, Retrieval

BESIDE = """
SELECT passage.id, passage.document_id, passage.text
FROM knowledge_passage AS found JOIN knowledge_passage AS passage ON passage.document_id = found.document_id
    AND passage.generation_id = found.generation_id AND passage.heading_path = found.heading_path
WHERE found.id = ANY(%(found)s::bigint[]) AND passage.id <> ALL(%(known)s::bigint[])
ORDER BY array_position(%(found)s::bigint[], found.id), passage.position
"""


def add_named_sections(
    question: str, candidates: Sequence[Candidate], retrieval: Retrieval, *, language: str
) -> list[Candidate]:
    """Return the candidates with those further passages of their sections behind them; one query if any is named.

    `language` is the one that editions are named in; where it is empty, they are not.
    """
    wanted, asked = asked_labels(question), content_words(question)
    named = [each.passage_id for each in candidates if is_named(each, asked)] if wanted else []
    if not named:
        return list(candidates)
    known = {each.passage_id for each in candidates} | retrieval.left_out
    rows = fetch_all(BESIDE, {"found": named, "known": list(known)})
    beside = {
        passage: document for passage, document, text in rows if any(says(each, wanted) for each in quotable(text))
    }
    hits = [RankedPassage(passage, document, 0, 0.0, {}) for passage, document in beside.items()][:MOST_OF_SECTIONS]
    added = load_candidates(hits, language=language) if hits else []
    return [replace(each, number=place, rank=place) for place, each in enumerate([*candidates, *added], start=1)]
