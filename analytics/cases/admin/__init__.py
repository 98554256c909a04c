"""Screens of the desk."""
