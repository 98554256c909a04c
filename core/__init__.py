"""Access, database, models that run, and text: needed by every app, owned by none."""
