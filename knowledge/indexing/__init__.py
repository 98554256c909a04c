"""Documents made searchable."""
