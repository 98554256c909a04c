"""Admin parts that all pages of inbox items share."""
