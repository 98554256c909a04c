"""What staff and commands do with documents and crawls."""
