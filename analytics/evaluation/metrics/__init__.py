"""Measures of rankings and of answers."""
