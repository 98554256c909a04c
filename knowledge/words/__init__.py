"""How the words of a question find those of the pages."""
