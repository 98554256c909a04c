"""Trials of a language model: which layout of the prompt it does best with, and whether it helps at all."""
