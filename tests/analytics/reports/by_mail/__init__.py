"""Reports that come by e-mail."""
