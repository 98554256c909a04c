"""Management commands of the FAQs."""
