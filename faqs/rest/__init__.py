"""The staff API's part of this app."""
