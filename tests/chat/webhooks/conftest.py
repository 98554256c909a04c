"""A receiver that this server trusts and may reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.chat.webhooks.receiver import Receiver, certify, receiving


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certify(tmp_path_factory.mktemp("receiver"))


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Path:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    return certificate


@pytest.fixture
def receiver(trusted: Path) -> Iterator[Receiver]:
    with receiving(trusted) as made:
        yield made
