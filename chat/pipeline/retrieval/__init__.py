"""Finds the passages and FAQs that may answer."""
