"""Code that every app needs and no app owns."""
