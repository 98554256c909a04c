"""Commands that import documents and courses, crawl, index and propose."""
