"""A later version of the product: the same code and one more app, whose migration changes the busiest tables."""
