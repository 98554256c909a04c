"""The queue and the page of a review."""
