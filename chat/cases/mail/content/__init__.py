"""What an incoming mail says: its parts, the words that are new, and whether a program wrote it."""
