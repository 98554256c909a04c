"""Every list of the admin, every empty form and the first row of every list, as axe and a phone see them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: Screens of the library of schedules, as it made them.
FOREIGN = "django_celery_beat"


@pytest.fixture(params=[("en-GB", "light", 1440), ("de-DE", "dark", 360)], ids=["desktop", "phone"])
def administrator(request: pytest.FixtureRequest, browser: Browser, quoting: Run) -> Iterator[Page]:
    locale, scheme, width = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        locale=locale,
        color_scheme=scheme,
        base_url=f"http://127.0.0.1:{quoting.port}",
    )
    page = context.new_page()
    page.goto("/admin/")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(quoting.password)
    page.locator("input[type=submit]").click()
    yield page
    context.close()


def links(page: Page, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all("links => links.map(link => link.pathname)")
    return [path for path in dict.fromkeys(found) if FOREIGN not in path]


def faults(page: Page, path: str) -> list[str]:
    problems: list[str] = []
    page.once("pageerror", lambda error: problems.append(str(error)))
    page.goto(path)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    # Boxes to choose from are drawn a moment after the page is there.
    page.wait_for_timeout(200)
    return [*problems, *([f"{wide} pixels too wide"] if wide > 0 else []), *violations(page)]


def test_pages_for_staff_have_no_barrier_that_a_machine_finds(administrator: Page) -> None:
    lists = links(administrator, "#nav-sidebar .model-link, #nav-sidebar th a")
    forms = links(administrator, "#nav-sidebar .addlink")
    assert len(lists) > 20
    wrong = {}
    rows = []
    for path in lists:
        if found := faults(administrator, path):
            wrong[path] = found
        rows += links(administrator, "#result_list tbody th a[href*='/change/']")[:1]
    assert len(rows) > 8
    for path in [*forms, *rows]:
        if found := faults(administrator, path):
            wrong[path] = found
    assert wrong == {}
