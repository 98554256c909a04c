"""Changes that staff and commands make to documents, courses and crawls."""
