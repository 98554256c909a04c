"""Sign-on of staff with the university's directory, by OpenID Connect or SAML."""
