"""The inbox: cases, unanswered topics and answers to review."""
