"""The list "To do": unanswered topics and answers to review."""
