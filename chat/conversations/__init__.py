"""Conversations as they are saved."""
