"""The desk: cases as staff see them, news of them, and what becomes of those that wait."""
