"""Tests of question sets and runs."""
