"""Earlier versions of an FAQ, and conflicts between two edits at once."""
