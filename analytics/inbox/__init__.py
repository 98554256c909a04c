"""The inbox: unanswered topics and answers to review, one list that the staff share."""
