"""Trying a question: its form and what is shown of the answer."""
