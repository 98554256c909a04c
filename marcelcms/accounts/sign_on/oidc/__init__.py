"""Sign-on with OpenID Connect."""
