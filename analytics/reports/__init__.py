"""Feedback reports, made in the background."""
