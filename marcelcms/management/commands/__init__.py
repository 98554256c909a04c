"""Back up, restore, migrate, check and fill an installation."""
