"""Measurements: `make bench`, with RESULTS.md for the method and the figures."""
