"""Corrections in the admin: on a document's page and in the list, and the page where conflicts are decided."""
