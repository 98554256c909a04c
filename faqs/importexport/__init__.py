"""Import of FAQs from files and export to files."""
