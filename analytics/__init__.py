"""Figures, reports, reviews, unanswered topics and evaluations of the answers."""
