"""Constants that tune retrieval, each with its source; pure.

Others stand elsewhere. `PASSAGE_TOKENS`, the length of a passage, and the search of the HNSW index are settings
(`marcelcms.settings`). Weights and depths of the retrievers belong to profiles (`chat.pipeline.retrieval.profiles`).
BM25 has Lucene's k1 1.2 and b 0.75, which Tantivy fixes. The HNSW index is built with pgvector's m 16 and
ef_construction 64: the table "Recall of the HNSW index on real text" in benchmarks/RESULTS.md compares others.
"""

#: The c of reciprocal rank fusion, as its authors chose it (Cormack et al. 2009).
RRF_CONSTANT = 60
#: An FAQ of at least this confidence is more likely meant than not, so its passages keep their places in reranking: the
#: Marcel paper lost 31% of its MRR by reranking what FAQs had put first. Not measured: no cross-encoder is included.
PROTECTED_CONFIDENCE = 0.5
#: Words of a question that BM25 looks up in each language. Not measured: questions are rarely longer, and the words of
#: a pasted page would only cost time.
MOST_TERMS = 64
#: Units searched at first for each passage wanted, and the factor of each further search. Not measured: several units
#: of one passage may be near, and a search that finds too few passages is repeated with more units.
UNITS_A_PASSAGE = 4
