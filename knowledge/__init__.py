"""Pages, PDFs and courses: read, split into passages, indexed and retrieved."""
