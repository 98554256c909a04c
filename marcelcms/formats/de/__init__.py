"""Formats in German."""
