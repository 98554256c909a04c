"""Tables that somebody uploads or downloads."""
