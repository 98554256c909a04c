"""Settings of SAML: each that cannot work is named at the start, with what is wrong."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from marcelcms.accounts.sign_on.saml.identity_provider import check_key_pair, read_identity_provider
from tests.fakes.saml import key_pair, running_identity_provider


@pytest.fixture(scope="module")
def metadata() -> str:
    with running_identity_provider() as provider:
        return provider.metadata().replace(provider.origin, "https://idp.uni.example")


NAME = "https://idp.uni.example/idp"


def test_the_provider_is_found_in_a_federations_metadata(metadata: str) -> None:
    other = metadata.replace("idp.uni.example", "idp.other.example")
    space = 'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"'
    found = read_identity_provider(f"<md:EntitiesDescriptor {space}>{other}{metadata}</md:EntitiesDescriptor>", NAME)
    assert found["entityId"] == NAME
    assert found["singleSignOnService"]["url"] == "https://idp.uni.example/sso"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (NAME, "https://another.example", "names no identity provider"),
        ("https://idp.uni.example/sso", "http://idp.uni.example/sso", "no https address"),
        ("https://idp.uni.example/slo", "http://idp.uni.example/slo", "no https address"),
        ("SingleSignOnService", "ArtifactResolutionService", "no SingleSignOnService"),
        ("ds:X509Certificate", "ds:X509SKI", "no certificate"),
        ("<md:EntityDescriptor", "", "no SAML metadata"),
        ("IDPSSODescriptor", "SPSSODescriptor", "names no identity provider"),
    ],
)
def test_metadata_that_do_not_do_say_why(metadata: str, old: str, new: str, says: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=says):
        read_identity_provider(metadata.replace(old, new), NAME)


def test_metadata_with_an_external_entity_are_refused(metadata: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="no SAML metadata"):
        read_identity_provider(f'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>{metadata}', NAME)


def test_a_name_that_is_part_of_a_search_is_refused(metadata: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="no entity ID"):
        read_identity_provider(metadata, "x'] | //*[@entityID='https://idp.uni.example/idp")


def test_missing_metadata_key_and_certificate_are_named() -> None:
    key, certificate = key_pair("product")
    with pytest.raises(ImproperlyConfigured, match="SAML_IDP_METADATA is not set"):
        read_identity_provider("", NAME)
    with pytest.raises(ImproperlyConfigured, match="SAML_KEY is not set"):
        check_key_pair("", certificate)
    with pytest.raises(ImproperlyConfigured, match="SAML_CERTIFICATE is not set"):
        check_key_pair(key, "")


def test_key_and_certificate_belong_together() -> None:
    key, certificate = key_pair("product")
    check_key_pair(key, certificate)
    with pytest.raises(ImproperlyConfigured, match="SAML_CERTIFICATE is not of SAML_KEY"):
        check_key_pair(key, key_pair("stranger")[1])
    with pytest.raises(ImproperlyConfigured, match="SAML_KEY is no private key"):
        check_key_pair(certificate, certificate)
    with pytest.raises(ImproperlyConfigured, match="SAML_CERTIFICATE is no certificate"):
        check_key_pair(key, key)
