"""Figures, evaluations, reviews and reports of what the assistants answer."""
