"""Only public machines are connected to, unless private ones are allowed."""

import pytest

from core.outgoing.ssrf import is_allowed

PRIVATE = [
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "127.0.0.1", "127.9.9.9", "100.64.0.1", "198.18.0.1", "::1", "fc00::1",
    "fd12:3456::1", "::ffff:10.0.0.1", "2002:0a00:0001::1", "64:ff9b::10.0.0.1", "64:ff9b:1::127.0.0.1", "::127.0.0.1",
]  # fmt: skip
NEVER = [
    "169.254.169.254", "169.254.170.2", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "100.100.100.200", "0.0.0.0", "::", "224.0.0.1",
    "255.255.255.255", "240.0.0.1", "ff02::1", "2001:0:a9fe:a9fe::1", "localhost", "2130706433", "",
]  # fmt: skip


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_are_talked_to(address: str) -> None:
    assert is_allowed(address, allow_private=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_talked_to_only_where_the_plan_allows_it(address: str) -> None:
    assert not is_allowed(address, allow_private=False)
    assert is_allowed(address, allow_private=True)


@pytest.mark.parametrize("address", NEVER)
def test_clouds_secrets_and_addresses_of_nobody_are_never_talked_to(address: str) -> None:
    assert not is_allowed(address, allow_private=False)
    assert not is_allowed(address, allow_private=True)
