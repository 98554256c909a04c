"""Counts a day and a month, kept for the dashboard."""
