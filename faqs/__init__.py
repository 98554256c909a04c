"""Curated questions with the documents that answer them: matching, import, versions and duplicates."""
