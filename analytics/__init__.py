"""Evaluation, shadow tests, gaps, reviews, reports and the dashboard."""
