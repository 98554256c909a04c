"""Tests of proposed questions."""
