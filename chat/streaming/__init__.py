"""An answer runs apart from its socket; its events are numbered, kept and published."""
