"""Crawls as jobs: begun, watched, and their pages imported."""
