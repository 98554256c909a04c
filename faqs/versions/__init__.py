"""What a FAQ said before, and two who edit it at once."""
