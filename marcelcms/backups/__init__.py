"""Everything in one file, and back: the database as `pg_dump` writes it, the media files, and a manifest of both."""
