"""Accounts of staff: roles, login, sessions and API tokens."""
