"""The staff API's part of this app, and what all its parts have in common: who may, which rows, pages, conflicts."""
