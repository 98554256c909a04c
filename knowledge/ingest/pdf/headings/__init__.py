"""Headings of a PDF: candidates by numbering and look, and which of them are headings."""
