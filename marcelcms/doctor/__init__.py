"""Diagnosis of a whole deployment from the inside, with advice on each finding."""
