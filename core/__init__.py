"""What every app needs and no app owns."""
