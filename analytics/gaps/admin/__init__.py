"""The screens of gaps."""
