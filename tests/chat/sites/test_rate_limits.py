"""How much of what somebody may have, and what that means for others."""

import uuid

import pytest
from pytest_django import Settings

from chat import errors
from chat.sites import rate_limits


async def is_refused(visitor: str, address: str, site: str) -> bool:
    try:
        await rate_limits.count_question(visitor=visitor, address=address, site=site)
    except errors.TooMany:
        return True
    return False


async def test_one_visitor_uses_up_nobody_elses_questions(settings: Settings) -> None:
    visitor, site = uuid.uuid4().hex, uuid.uuid4().hex
    address = f"192.0.2.{uuid.uuid4().int % 250}"
    settings.QUESTIONS_PER_MINUTE, settings.QUESTIONS_PER_MINUTE_AND_ADDRESS = 5, 10
    settings.QUESTIONS_PER_MINUTE_AND_SITE = 20
    refused = [await is_refused(visitor, address, site) for _ in range(100)]
    assert refused == [False] * 5 + [True] * 95
    assert not await is_refused(uuid.uuid4().hex, address, site)
    assert not await is_refused(uuid.uuid4().hex, "198.51.100.1", site)


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("::ffff:192.0.2.1", "::ffff:198.51.100.1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_who_counts_as_one_address(one: str, other: str, are_one: bool) -> None:
    assert (rate_limits.pseudonym(one) == rate_limits.pseudonym(other)) is are_one
