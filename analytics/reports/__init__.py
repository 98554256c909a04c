"""Feedback reports and their exports."""
