"""Files of rows, each format in a module of its own where it needs a library."""
