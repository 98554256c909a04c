"""The product set up with a SAML identity provider, and a browser that logs in there."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from marcelcms.accounts.sign_on.saml.identity_provider import read_identity_provider
from tests.fakes.oidc import PUBLIC_URL
from tests.fakes.saml import (
    ENTITLEMENT,
    GIVEN_NAME,
    MAIL,
    SUBJECT_ID,
    SURNAME,
    IdentityProvider,
    key_pair,
    query_of,
    running_identity_provider,
)

BO = {
    SUBJECT_ID: ["4711@uni.example"],
    MAIL: ["bo.berg@uni.example"],
    GIVEN_NAME: ["Bo"],
    SURNAME: ["Berg"],
    ENTITLEMENT: ["law-web", "choir"],
}


@pytest.fixture
def directory(settings: Settings, law: Group) -> Iterator[IdentityProvider]:
    with running_identity_provider() as provider:
        configure(settings, provider, PUBLIC_URL)
        yield provider


def configure(settings: Settings, provider: IdentityProvider, public_url: str) -> None:
    """Introduce product and provider to each other."""
    cache.clear()
    settings.PUBLIC_URL = public_url
    settings.SAML_KEY, settings.SAML_CERTIFICATE = key_pair("product")
    settings.SAML_IDP = read_identity_provider(provider.metadata(), provider.entity_id)
    provider.attributes = dict(BO)
    provider.meet(Client().get(reverse("sign-on-saml-metadata")).content.decode())


class Attempt:
    """A browser that has been sent to the provider: what it took along, and how it comes back."""

    def __init__(self, directory: IdentityProvider, **start: str) -> None:
        self.directory, self.client = directory, Client()
        place = self.client.get(reverse("sign-on"), start)["Location"]
        assert place.startswith(f"{directory.origin}/sso?")
        self.sent = query_of(place)

    def answer(self, **changed: Any) -> str:
        return self.directory.answer(self.sent, **changed)

    def come_back(self, document: str | bytes, client: Client | None = None) -> Any:
        """Return the product's last answer to who brings this document."""
        client = client or self.client
        sent = document if isinstance(document, bytes) else document.encode()
        # As a form of another site is sent: without the session's cookie.
        form = {"SAMLResponse": base64.b64encode(sent).decode(), "RelayState": "https://evil.example/"}
        taken = Client().post(reverse("sign-on-saml"), form)
        return client.get(taken["Location"]) if taken.status_code == 303 else taken

    def is_in(self) -> bool:
        return self.client.get(reverse("admin:index")).status_code == 200


@pytest.fixture
def attempt(directory: IdentityProvider) -> Attempt:
    return Attempt(directory)
