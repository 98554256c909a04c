"""Tests of the screens of question sets and runs."""
