"""The staff API: what staff do in the admin, for their programs."""
