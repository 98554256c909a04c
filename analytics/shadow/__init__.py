"""A change tried on earlier questions before it goes live."""
