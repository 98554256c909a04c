"""BM25 with Tantivy: one index a collection, counted together where several are searched."""
