"""Who the staff are, and how they sign in."""
