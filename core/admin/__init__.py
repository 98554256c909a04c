"""Shared code of the admin's screens."""
