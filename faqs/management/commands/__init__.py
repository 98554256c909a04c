"""Import FAQs from files."""
