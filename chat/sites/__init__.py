"""Sites that may embed the assistant, and how much they may ask."""
