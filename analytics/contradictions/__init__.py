"""Pages, FAQs and answers that say different things about the same matter."""
