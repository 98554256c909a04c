"""Steps by which the words of a question find those of the pages."""
