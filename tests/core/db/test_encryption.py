"""Secrets are read again with the same SECRET_KEY alone."""

import pytest
from pytest_django import Settings

from core.db.encryption import Undecryptable, decrypt, encrypt


def test_what_is_encrypted_is_read_again_and_looks_different_each_time() -> None:
    one, other = encrypt("whsec_käse"), encrypt("whsec_käse")
    assert decrypt(one) == decrypt(other) == "whsec_käse"
    assert one != other
    assert "käse" not in one


def test_another_key_reads_nothing_and_an_earlier_one_does(settings: Settings) -> None:
    kept = encrypt("secret")
    settings.SECRET_KEY, earlier = "another", settings.SECRET_KEY
    with pytest.raises(Undecryptable):
        decrypt(kept)
    settings.SECRET_KEY_FALLBACKS = [earlier]
    assert decrypt(kept) == "secret"


def test_a_changed_value_is_not_read() -> None:
    kept = encrypt("secret")
    with pytest.raises(Undecryptable):
        decrypt(kept[:-4] + "AAAA")
