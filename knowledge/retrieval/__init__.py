"""Passages found for a question."""
