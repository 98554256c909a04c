"""Documents from files, pages and PDFs."""
