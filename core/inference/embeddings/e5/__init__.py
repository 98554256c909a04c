"""multilingual-e5-small from its package."""
