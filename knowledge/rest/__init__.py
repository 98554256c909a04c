"""Documents in the staff API."""
