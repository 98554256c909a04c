"""What a visitor's tab and the staff may do."""
