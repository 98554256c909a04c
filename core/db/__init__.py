"""What the database is asked for in more than one app."""
