"""Figures and traces of what this process does, for the tools that watch it."""
