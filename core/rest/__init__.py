"""The base of the staff API's views."""
