"""The product as a SAML service provider: what it asks the identity provider, and what it says of itself."""

import zlib
from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from lxml.etree import LxmlError
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request
from onelogin.saml2.metadata import OneLogin_Saml2_Metadata as Metadata
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from marcelcms.accounts.sign_on.entry import Refused

#: The value of SAML_SUBJECT_ATTRIBUTE that takes the NameID, which must be persistent then.
NAME_ID = "NameID"
MAIL, GIVEN_NAME, SURNAME = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4"
URI = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
#: Providers want one, and send it back; nothing is read from it.
RELAY_STATE = "login"
MOST_BYTES = 100_000
#: What the library and its parsers raise on what no honest provider sends.
HOSTILE = (
    OneLogin_Saml2_Error,
    OneLogin_Saml2_ValidationError,
    LxmlError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    zlib.error,
)


def address(name: str) -> str:
    """Return the public address of one of this product's pages."""
    return f"{settings.PUBLIC_URL}{reverse(name)}"


def library_settings() -> OneLogin_Saml2_Settings:
    return _library_settings(
        settings.PUBLIC_URL,
        settings.SAML_KEY,
        settings.SAML_CERTIFICATE,
        settings.SAML_SUBJECT_ATTRIBUTE,
        settings.SAML_GROUPS_ATTRIBUTE,
        repr(settings.SAML_IDP),
    )


@lru_cache(maxsize=1)
def _library_settings(
    _public_url: str, key: str, certificate: str, subject: str, groups: str, _provider: str
) -> OneLogin_Saml2_Settings:
    named = {"subject": subject, "mail": MAIL, "givenName": GIVEN_NAME, "sn": SURNAME, "groups": groups}
    requested = [
        {"name": attribute, "nameFormat": URI, "friendlyName": name, "isRequired": name in {"subject", "groups"}}
        for name, attribute in named.items()
        if attribute != NAME_ID
    ]
    product = {
        "entityId": address("sign-on-saml-metadata"),
        "assertionConsumerService": {"url": address("sign-on-saml"), "binding": Constants.BINDING_HTTP_POST},
        "singleLogoutService": {"url": address("sign-on-saml-logout"), "binding": Constants.BINDING_HTTP_REDIRECT},
        "NameIDFormat": Constants.NAMEID_PERSISTENT if subject == NAME_ID else Constants.NAMEID_UNSPECIFIED,
        "attributeConsumingService": {"serviceName": "MarcelCMS", "requestedAttributes": requested},
        "x509cert": certificate,
        "privateKey": key,
    }
    security = {
        "authnRequestsSigned": True,
        "logoutRequestSigned": True,
        "logoutResponseSigned": True,
        "wantAssertionsSigned": True,
        "wantNameId": subject == NAME_ID,
        # How somebody proves who they are is the directory's matter.
        "requestedAuthnContext": False,
        "rejectDeprecatedAlgorithm": True,
        "allowSingleLabelDomains": True,
        "signatureAlgorithm": Constants.RSA_SHA256,
        "digestAlgorithm": Constants.SHA256,
    }
    told = {"strict": True, "sp": product, "idp": settings.SAML_IDP, "security": security}
    return OneLogin_Saml2_Settings(told)


def request_data(name: str, **sent: Mapping[str, str] | str) -> dict[str, Any]:
    """Return a request to one of our pages as the library takes it: by the public address, not by a header."""
    parts = urlsplit(address(name))
    return {
        "https": "on" if parts.scheme == "https" else "off",
        "http_host": parts.netloc,
        "script_name": parts.path,
        **sent,
    }


def metadata() -> str:
    """Return what the identity provider has to know of this product, as XML."""
    own = library_settings()
    text = Metadata.builder(own.get_sp_data(), authnsign=True, wsign=True, valid_until="", cache_duration="")
    # The library names the key for encryption only where it refuses what is not encrypted.
    return cast("str", Metadata.add_x509_key_descriptors(text, own.get_sp_cert(), add_encryption=True))


def login_request() -> tuple[str, str]:
    """Return where a browser is sent to log in, and the ID that the answer has to name."""
    auth = OneLogin_Saml2_Auth(request_data("sign-on"), library_settings())
    place = auth.login(return_to=RELAY_STATE, set_nameid_policy=settings.SAML_SUBJECT_ATTRIBUTE == NAME_ID)
    return cast("str", place), cast("str", auth.get_last_request_id())


def end_session_url(directory_session: Mapping[str, str]) -> str:
    """Return where a browser ends the session with the provider; empty where it has no such address."""
    auth = OneLogin_Saml2_Auth(request_data("sign-on"), library_settings())
    if not auth.get_slo_url() or not directory_session["name_id"]:
        return ""
    place = auth.logout(
        return_to=RELAY_STATE,
        name_id=directory_session["name_id"],
        name_id_format=directory_session["format"] or None,
        session_index=directory_session["session_index"] or None,
        nq=directory_session["name_qualifier"] or None,
        spnq=directory_session["sp_name_qualifier"] or None,
    )
    return cast("str", place)


def read_logout_request(request: HttpRequest) -> tuple[str, str]:
    """Return whose session the provider ends, and where the browser takes our answer. Raise Refused."""
    if any(len(values) > 1 for _name, values in request.GET.lists()):
        raise Refused("a parameter twice")
    if "Signature" not in request.GET:
        raise Refused("no signature")
    data = request_data(
        "sign-on-saml-logout",
        get_data=request.GET.dict(),
        query_string=request.META["QUERY_STRING"],
        validate_signature_from_qs="yes",
    )
    try:
        unpacked = zlib.decompressobj(-zlib.MAX_WBITS).decompress(b64decode(request.GET["SAMLRequest"]), MOST_BYTES)
        if len(unpacked) == MOST_BYTES:
            raise Refused("too large")
        auth = OneLogin_Saml2_Auth(data, library_settings())
        place = auth.process_slo(keep_local_session=True)
        if place is None:
            raise Refused(", ".join(auth.get_errors()))
        name_id = OneLogin_Saml2_Logout_Request.get_nameid(unpacked, settings.SAML_KEY)
    except HOSTILE as error:
        raise Refused(type(error).__name__) from error
    return cast("str", name_id), cast("str", place)
