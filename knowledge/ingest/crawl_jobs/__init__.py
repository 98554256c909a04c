"""Crawls as jobs of a worker: queued, watched, and their pages imported; the crawler itself is `crawler`."""
