"""Editions: documents about the same matter for several terms, years or examination regulations."""
