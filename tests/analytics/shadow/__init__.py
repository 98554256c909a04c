"""Tests of shadow tests."""
