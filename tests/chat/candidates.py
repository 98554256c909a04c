"""Passages as the pipeline hands them on, without a database."""

from typing import Any

from chat.pipeline.retrieval.candidates import Candidate


def candidate(number: int = 1, **values: Any) -> Candidate:
    """Its ids tell it apart from the others: passage 100 + number, document 10 + number."""
    given = {
        "passage_id": 100 + number,
        "document_id": 10 + number,
        "title": f"Page {number}",
        "url": f"https://www.uni.example/page-{number}",
        "heading": "",
        "text": f"This is the whole text of the page with number {number}.",
    }
    return Candidate(number=number, **{**given, **values})
