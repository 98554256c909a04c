"""Looks at a whole deployment from the inside and says what to do about what it finds."""
