"""The list of gaps in a browser: it has most columns of all, and German names for them."""

import re
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser

from tests.analytics.gaps.rows import new_gap
from tests.factories import AssistantFactory, DocumentFactory, FAQFactory, UserFactory
from tests.servers import Server

pytestmark = pytest.mark.e2e


def serve(route: Any) -> None:
    """Serve static files: the test's server has none."""
    name = re.sub(r"\.[0-9a-f]{12}\.", ".", route.request.url.split("/static/")[1])
    path = finders.find(name)
    route.fulfill(path=path) if path else route.abort()


@pytest.mark.parametrize("locale", ["de-DE", "en-GB"])
def test_no_column_is_cut_on_a_usual_screen(server: Server, browser: Browser, locale: str) -> None:
    values = {"assistant": AssistantFactory(name="Lindi"), "language": "de", "weight": 7.2, "this_week": 4}
    answered = {"answered_since": timezone.now()}
    name = "Wie bekomme ich eine Parkerlaubnis für den Campus Nord der Universität?"
    new_gap(name, **values, **answered, answered_by_faq=FAQFactory(question="Wo parke ich auf dem Campus?"))
    document = DocumentFactory(title="Verwaltungsvorschriften der Universität")
    new_gap(name, **values, **answered, answered_by_document=document, state="in_work")
    client = Client()
    client.force_login(UserFactory(is_superuser=True))
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale=locale, base_url=server.origin)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": server.origin}])
    page = context.new_page()
    page.route("**/static/**", serve)
    page.goto("/admin/analytics/gap/")
    hidden = page.locator(".results").evaluate("results => results.scrollWidth - results.clientWidth")
    context.close()
    assert hidden == 0
