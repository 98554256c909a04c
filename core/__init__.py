"""What every app needs and no app owns: access, database, models that run, text."""
