"""Where staff are logged in: listed, and ended one by one, all at once, or with a lost right."""
