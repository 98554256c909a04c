"""What is measured and against what: `make bench`, with RESULTS.md for the method and the figures."""
