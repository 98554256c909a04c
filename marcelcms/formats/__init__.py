"""Formats of dates and numbers in a language."""
