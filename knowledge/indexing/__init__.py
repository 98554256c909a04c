"""Indexing: documents become passages, vectors and units of a generation."""
