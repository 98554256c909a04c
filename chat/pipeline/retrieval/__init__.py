"""Which passages and FAQs may answer."""
