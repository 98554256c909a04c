"""Saved reports and their exports in the staff API."""
