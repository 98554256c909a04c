"""Requests of this server to addresses that staff name."""
