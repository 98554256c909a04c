"""Chunking: documents are cut into passages, sentences and propositions."""
