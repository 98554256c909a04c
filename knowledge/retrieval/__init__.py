"""Retrieval: passages that may answer a question, ranked and fused."""
