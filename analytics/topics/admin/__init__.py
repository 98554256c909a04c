"""Screens of topics."""
