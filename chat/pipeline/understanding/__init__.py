"""What a message is and what it asks."""
