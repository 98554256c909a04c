"""Tests of gaps."""
