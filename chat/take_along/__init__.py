"""What students take along from an answer: dates for their calendar, a conversation as a file."""
