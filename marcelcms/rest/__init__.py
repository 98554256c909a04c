"""The staff API: the actions of the admin, for programs."""
