"""The screens of reports."""
