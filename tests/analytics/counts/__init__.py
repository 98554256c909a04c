"""Tests of the counts a day and a month."""
