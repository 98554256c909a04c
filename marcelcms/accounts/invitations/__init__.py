"""Invitations: an administrator enters who a colleague is, and they choose their password by a link."""
