"""Which directory staff log in with."""

from django.conf import settings


def issuer() -> str:
    """Return the directory's name, as it calls itself; empty without one."""
    return str(settings.OIDC_ISSUER or settings.SAML_IDP.get("entityId", ""))


def is_configured() -> bool:
    return bool(issuer())
