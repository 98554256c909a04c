"""FAQs out of and into files."""
