"""Export of sentence-transformers models to folders that run without torch."""
