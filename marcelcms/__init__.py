"""MarcelCMS: answers from a university's own pages, curated in Django admin."""
