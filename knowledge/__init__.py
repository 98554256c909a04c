"""Documents and courses: imported, cut into passages, indexed and found."""
