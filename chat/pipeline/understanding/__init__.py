"""Finds what a message is and what it asks."""
