"""Every list of the admin, every empty form and the form of a row of every list, as axe sees them, for each role."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.clicks import invite
from tests.e2e.conftest import violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: Screens of the library of schedules, as it made them.
FOREIGN = "django_celery_beat"
#: Forms that no list leads to by its own buttons.
FORMS = ("/admin/invite/", "/admin/inbox/preferences/", "/admin/knowledge/course/import/", "/invitation/x/y-z/")


def administrator(browser: Browser, run: Run, locale: str, scheme: Literal["light", "dark"], width: int) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        locale=locale,
        color_scheme=scheme,
        base_url=f"http://127.0.0.1:{run.port}",
    )
    page = context.new_page()
    page.goto("/admin/login/?next=/admin/faqs/faq/")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(run.password)
    page.locator("input[type=submit]").click()
    page.locator("#nav-sidebar").wait_for(state="attached")
    return page


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


def test_lists_on_a_phone_have_no_barrier_that_a_machine_finds(browser: Browser, quoting: Run) -> None:
    page = administrator(browser, quoting, "de-DE", "dark", 360)
    lists = links(page, "#nav-sidebar th a")
    assert len(lists) > 20
    found = {path: faults(page, path) for path in [*lists, *FORMS]}
    page.goto("/admin/faqs/faq/")
    assert page.locator("#content").evaluate("content => content.getBoundingClientRect().top") <= 110
    assert page.locator("#header input[type=search]").is_visible()
    page.locator(".phone-navigation summary").click()
    found["the navigation"] = violations(page)
    page.locator(".account-button").click()
    assert page.locator("#logout-form button").is_visible()
    found["the account"] = violations(page)
    page.context.close()
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_forms_have_no_barrier_that_a_machine_finds(browser: Browser, quoting: Run) -> None:
    page = administrator(browser, quoting, "en-GB", "light", 1440)
    forms = [*links(page, "#nav-sidebar .addlink"), *FORMS]
    for path in links(page, "#nav-sidebar th a"):
        page.goto(path)
        forms += links(page, "#result_list tbody th a[href*='/change/']")[:1]
    assert len(forms) > 20
    found = {path: faults(page, path) for path in forms}
    page.context.close()
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("role", "first_name", "locale", "scheme", "width"),
    [
        ("Curator", "Ada", "de-DE", "dark", 768),
        ("Reviewer", "Cem", "en-GB", "light", 390),
        ("Analyst", "Eva", "de-DE", "light", 768),
    ],
)
def test_no_page_that_a_role_is_led_to_has_a_barrier_that_a_machine_finds(
    browser: Browser,
    quoting: Run,
    role: str,
    first_name: str,
    locale: str,
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    link = invite(browser, quoting, first_name, role=role)
    context = browser.new_context(viewport={"width": width, "height": 900}, locale=locale, color_scheme=scheme)
    page = context.new_page()
    page.goto(link)
    for field in page.locator("input[type=password]").all():
        field.fill("Lindental-7-bridges")
    page.locator("#content form button, #content form input[type=submit]").last.click()
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/")
    lists = links(page, "#nav-sidebar th a")
    assert len(lists) > 3
    forms = links(page, "#nav-sidebar .addlink")
    for path in lists:
        page.goto(f"http://127.0.0.1:{quoting.port}{path}")
        forms += links(page, "#result_list tbody th a[href*='/change/']")[:1]
    paths = dict.fromkeys(["/admin/", "/admin/inbox/preferences/", *lists, *forms])
    found = {path: faults(page, f"http://127.0.0.1:{quoting.port}{path}") for path in paths}
    context.close()
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_on_a_phone_the_way_here_and_what_was_chosen_are_read_whole(browser: Browser, quoting: Run) -> None:
    page = administrator(browser, quoting, "de-DE", "light", 390)
    page.goto(links(page, "#result_list tbody th a")[0])
    page.locator("#content details").evaluate_all("all => all.forEach(each => each.open = true)")
    page.locator(".select2-selection__rendered[title]").first.wait_for()
    parts = page.locator(".breadcrumbs, .select2-selection__rendered")
    assert parts.evaluate_all("parts => parts.filter(part => part.scrollWidth > part.clientWidth)") == []
    page.goto("/admin/chat/experiment/add/")
    one_line, two_lines = (
        page.locator(name).evaluate("select => select.clientHeight") for name in ("#id_assistant", "#id_rule")
    )
    assert two_lines > one_line + 10
    page.context.close()


def test_on_a_phone_long_words_stay_on_the_screen_and_what_is_wrong_has_the_focus(
    browser: Browser, quoting: Run
) -> None:
    page = administrator(browser, quoting, "en-GB", "light", 390)
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 2
    page.goto("/admin/faqs/faq/add/")
    page.locator("#id_question").fill(long)
    page.locator("#id_status").select_option("published")
    page.get_by_role("button", name="Save and continue editing").click()
    # What is wrong with the documents stands above their table.
    expect(page.locator("#sources-group .errorlist")).to_be_in_viewport()
    expect(page.locator("#sources-group :focus")).to_have_count(1)
    page.locator("#id_status").select_option("draft")
    page.get_by_role("button", name="Save and continue editing").click()
    expect(page.locator(".messagelist .success")).to_be_visible()
    form = page.url
    for path in (form, form.replace("/change/", "/history/"), form.replace("/change/", "/versions/")):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    page.context.close()
