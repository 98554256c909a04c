"""Retention: deletes expired conversations and counts every night."""
