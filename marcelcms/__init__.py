"""The project: settings, addresses, roles, health, backups, and everything that runs all apps together."""
