"""The admin's first page."""
