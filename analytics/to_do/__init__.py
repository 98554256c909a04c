"""The list "To do": cases, unanswered topics and answers to review."""
