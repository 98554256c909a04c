"""The screens of shadow tests."""
