"""Conversations: questions answered from the knowledge, streamed to the widget."""
