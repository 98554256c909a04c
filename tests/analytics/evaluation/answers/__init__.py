"""Tests of answers and their measures."""
