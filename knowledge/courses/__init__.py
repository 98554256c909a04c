"""Courses: their records, codes, documents and prerequisites."""
