"""Commands that evaluate and make questions."""
