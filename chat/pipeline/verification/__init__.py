"""The check that a sentence says no more than the passage that it cites; `verify` is the door."""
