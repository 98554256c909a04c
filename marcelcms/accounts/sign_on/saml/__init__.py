"""Sign-on with SAML 2.0."""
