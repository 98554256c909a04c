"""Topics that students ask about and nothing answers."""
