"""Constants that tune retrieval, each with its source; pure.

Others stand elsewhere. `PASSAGE_TOKENS`, the length of a passage, and the search of the HNSW index are settings
(`marcelcms.settings`). Weights and depths of the retrievers belong to profiles (`chat.pipeline.retrieval.profiles`).
BM25 has Lucene's k1 1.2 and b 0.75, which Tantivy fixes. The HNSW index is built with pgvector's m 16 and
ef_construction 64: the table "Recall of the HNSW index on real text" in benchmarks/RESULTS.md compares others.
"""

from collections.abc import Mapping

from knowledge.words.readings import Step

#: The c of reciprocal rank fusion, as its authors chose it (Cormack et al. 2009).
RRF_CONSTANT = 60
#: An FAQ of at least this confidence is more likely meant than not, so its passages keep their places in reranking: the
#: Marcel paper lost 31% of its MRR by reranking what FAQs had put first. Not measured: no cross-encoder is included.
PROTECTED_CONFIDENCE = 0.5
#: Passages of a ranking whose documents' editions are looked up: several times those that are read (READ_PASSAGES), so
#: that those behind older editions move up.
EDITIONS_AMONG = 50
#: A passage gives way to one of the chosen edition that scores at least this share of what it scores itself. Texts of
#: editions are near-identical, so their scores lie close. One that no passage of the chosen edition comes near says
#: something that only its own edition says, and stays.
LEAST_EDITION_SHARE = 0.6
#: The same for a passage of another programme's handbook than the question names. Chosen by hand: one that only words
#: or only meanings found scores at most 0.4 or 0.6.
LEAST_PROGRAMME_SHARE = 0.3
#: Words of a question that BM25 looks up in each language. Not measured: questions are rarely longer, and the words of
#: a pasted page would only cost time.
MOST_TERMS = 64
#: Units searched at first for each passage wanted, and the factor of each further search. Not measured: several units
#: of one passage may be near, and a search that finds too few passages is repeated with more units.
UNITS_A_PASSAGE = 4
#: What a reading of a word weighs beside the word itself.
READING_WEIGHTS: Mapping[Step, float] = {
    Step.ABBREVIATIONS: 1.0,
    Step.NUMBERS: 0.8,
    Step.COMPOUNDS: 1.0,
    Step.SYNONYMS: 0.5,
}
#: Times this if it is a phrase, whose words may stand far apart on a page.
PHRASE_WEIGHT = 0.6
#: Candidates that the search of the HNSW index should keep (HNSW_EF_SEARCH), by the least passages. Measured with
#: 100,000 and a million synthetic passages in benchmarks/RESULTS.md; the step between is estimated.
CANDIDATES: tuple[tuple[int, int], ...] = ((600_000, 400), (200_000, 200), (0, 100))


def advised_candidates(passages: int) -> int:
    """Return how many candidates find nearly as much among so many passages as 100 do among 100,000."""
    return next(candidates for least, candidates in CANDIDATES if passages >= least)
