"""What the admin's screens share."""
