"""Database helpers that more than one app needs."""
