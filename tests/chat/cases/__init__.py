"""Tests of offices, their hours and their rules."""
