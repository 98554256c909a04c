"""Backup and restore in one file: the database as `pg_dump` writes it, the media files, and a manifest of both."""
