"""A promise about wrong answers, kept by statistics."""
