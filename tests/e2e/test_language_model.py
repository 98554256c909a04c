"""The page of an assistant's language model in a browser: on each screen, in both themes and languages."""

from typing import Any, Literal

import pytest
from django.test import Client
from playwright.sync_api import Browser
from pytest_django import Settings

from analytics.model_trials.outcomes import LAYOUT_BY_CODE, QUOTES
from analytics.models import ModelTrial
from chat.models import Assistant, ModelLayout
from tests.e2e.conftest import keep, violations
from tests.e2e.test_gap_list import serve
from tests.factories import AssistantFactory, UserFactory
from tests.servers import Server

pytestmark = pytest.mark.e2e


def tried(assistant: Assistant) -> None:
    """Make a trial in which quoting alone was better."""
    outcomes: list[dict[str, Any]] = []
    for way in (QUOTES, *LAYOUT_BY_CODE):
        for number in range(12 if way in (QUOTES, *list(LAYOUT_BY_CODE)[:2]) else 4):
            is_right = number % 3 == 0 or way == QUOTES
            outcomes.append(
                {
                    "way": way,
                    "question": f"faq:{number}",
                    "verdict": "right" if is_right else "declined",
                    "first_seconds": 12.3,
                    "seconds": 31.8,
                    "tokens": 1834,
                    "is_held_back": number % 2 == 0,
                }
            )
    ModelLayout.objects.create(model="fake", may_refuse=False, is_question_first=True, most_sources=3)
    ModelTrial.objects.create(assistant=assistant, model="fake", wanted=12, state="finished", outcomes=outcomes)


@pytest.mark.parametrize("locale", ["de-DE", "en-GB"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_page_fits_and_has_no_barrier_that_a_machine_finds(
    server: Server, settings: Settings, browser: Browser, locale: str, scheme: Literal["light", "dark"], width: int
) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = "http://127.0.0.1:9/v1", "fake"
    assistant = AssistantFactory(name="Lindi")
    tried(assistant)
    client = Client()
    client.force_login(UserFactory(is_superuser=True))
    context = browser.new_context(
        viewport={"width": width, "height": 900}, locale=locale, color_scheme=scheme, base_url=server.origin
    )
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": server.origin}])
    page = context.new_page()
    page.route("**/static/**", serve)
    page.goto(f"/admin/language-model/{assistant.pk}/")
    page.locator("table.figures").wait_for()
    keep(page, f"language-model-{width}-{scheme}-{locale}")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = violations(page)
    context.close()
    assert wide <= 0
    assert found == []
