"""Answers that staff look through."""
