"""Checks of what goes in and of what comes out."""
