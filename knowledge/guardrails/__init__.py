"""What pages and questions must not carry into a prompt."""
