"""Answers that staff write themselves: their pages, which of them a student gets, and what to warn of."""
