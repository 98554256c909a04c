"""What the staff API's views share."""
