"""Reads what the settings say of SAML: the identity provider's metadata, and the product's own key."""

from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate
from django.core.exceptions import ImproperlyConfigured
from lxml.etree import LxmlError
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser

from marcelcms.env import is_https_or_loopback


def read_identity_provider(metadata: str, entity_id: str) -> dict[str, Any]:
    """Return addresses and certificates of the provider of this name, as python3-saml takes them.

    The metadata may be that of a whole federation. Raise ImproperlyConfigured.
    """
    if not metadata:
        raise _wrong("SAML_IDP_METADATA", "is not set: SAML_IDP_ENTITY_ID needs it")
    if set("'\"<> ") & set(entity_id):
        raise _wrong("SAML_IDP_ENTITY_ID", "is no entity ID: take it from the provider's metadata")
    try:
        found = OneLogin_Saml2_IdPMetadataParser.parse(metadata, entity_id=entity_id).get("idp", {})
    except (LxmlError, ValueError) as error:
        raise _wrong("SAML_IDP_METADATA", f"is no SAML metadata ({type(error).__name__})") from error
    if not found:
        raise _wrong("SAML_IDP_METADATA", f"names no identity provider {entity_id}")
    if "singleSignOnService" not in found:
        raise _wrong("SAML_IDP_METADATA", "has no SingleSignOnService with the binding HTTP-Redirect")
    for service in ("singleSignOnService", "singleLogoutService"):
        if service in found and not is_https_or_loopback(found[service]["url"]):
            raise _wrong("SAML_IDP_METADATA", f"has a {service} that is no https address")
    if "x509cert" not in found and not found.get("x509certMulti", {}).get("signing"):
        raise _wrong("SAML_IDP_METADATA", "has no certificate for signatures")
    return dict(found)


def check_key_pair(key: str, certificate: str) -> None:
    """Raise ImproperlyConfigured if these are missing or no PEM, or the certificate is of another key."""
    if not key or not certificate:
        raise _wrong("SAML_CERTIFICATE" if key else "SAML_KEY", "is not set: SAML_IDP_ENTITY_ID needs it")
    try:
        own = load_pem_private_key(key.encode(), password=None).public_key()
    except (ValueError, TypeError) as error:
        raise _wrong("SAML_KEY", "is no private key in PEM without a password") from error
    try:
        shown = load_pem_x509_certificate(certificate.encode()).public_key()
    except ValueError as error:
        raise _wrong("SAML_CERTIFICATE", "is no certificate in PEM") from error
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if own.public_bytes(*form) != shown.public_bytes(*form):
        raise _wrong("SAML_CERTIFICATE", "is not of SAML_KEY")


def _wrong(name: str, what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name} {what}.")
