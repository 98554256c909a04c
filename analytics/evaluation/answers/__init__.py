"""Answers of a run, made, judged and summed up."""
