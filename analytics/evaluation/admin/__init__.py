"""The screens of question sets and of their runs."""
