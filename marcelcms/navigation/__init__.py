"""Ways through the admin: the navigation by task, and the search over everything."""
