"""The staff API's part of this app: gaps, reviews, and evaluations."""
