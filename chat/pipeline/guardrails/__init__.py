"""What may go in and what may come out."""
