"""Events for other programs, and their delivery."""
