"""The pages on which courses come in: from a file, and from a document that describes modules."""
