"""What is deleted, and when."""
