"""Retrieval and answers measured on question sets."""
