"""Services for a visitor's tab and for staff."""
