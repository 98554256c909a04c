"""A curator answers in their own words a question that no page answers; a student gets it at once."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import keep, violations
from tests.e2e.test_chat_page import ask, enter, finished
from tests.runtime.stack import Run
from tests.servers import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
QUESTION = "Can I bring my dog to the botanical seminar?"
PARAPHRASE = "May I bring my dog along to the botanical seminar?"
GERMAN = "Darf ich meinen Hund zum botanischen Seminar mitbringen?"


def test_from_the_form_to_the_students_screen(quoting: Run, browser: Browser, page: Page) -> None:
    staff = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB").new_page()
    origin = f"http://127.0.0.1:{quoting.port}"
    staff.goto(f"{origin}/admin/login/?next=/admin/faqs/faq/add/")
    staff.get_by_label("Username").fill("admin")
    staff.get_by_label("Password").fill(quoting.password)
    staff.get_by_role("button", name="Log in").click()
    staff.locator("#id_question").fill(QUESTION)
    for switch in staff.get_by_role("button", name="Markdown", exact=True).all():
        switch.click()
    staff.locator("#id_answer_en").fill("Yes, if it is **quiet**. You are admitted with it.")
    staff.locator("#id_answer_de").fill("Ja, wenn er **ruhig** ist.")
    # The form may begin with the office of an earlier answer.
    staff.locator("#id_office_en").fill("")
    staff.locator("#id_office_de").fill("dem Botanischen Garten")
    staff.locator("#id_status").select_option("published")
    staff.locator("#id_phrasings-0-text").fill(GERMAN)
    staff.get_by_role("button", name="Save", exact=True).click()
    # What was typed is still there, with what to do.
    expect(staff.locator(".field-office_en .errorlist")).to_contain_text("Write which office answers")
    expect(staff.locator("#id_office_en")).to_be_focused()
    expect(staff.locator("#id_office_en")).to_be_in_viewport()
    expect(staff.locator("#id_answer_en")).to_have_value("Yes, if it is **quiet**. You are admitted with it.")
    keep(staff, "faq-answer-form")
    assert violations(staff) == []
    staff.set_viewport_size({"width": 360, "height": 740})
    assert staff.evaluate("document.documentElement.scrollWidth") <= 360
    keep(staff, "faq-answer-form-phone")
    staff.locator("#id_office_en").fill("the Botanical Garden")
    staff.get_by_role("button", name="Save", exact=True).click()
    expect(staff.locator(".messagelist .warning")).to_contain_text("reads like a decision about one person")
    wait_until(lambda: quoting.manage("ask", PARAPHRASE, "--json").count("quiet") > 0, 60)

    enter(page, quoting)
    answer = finished(ask(page, PARAPHRASE))
    expect(answer.locator('[data-test="office"] strong')).to_have_text("quiet")
    keep(page, "office-answer")
    href = answer.locator('[data-test="office"] a').get_attribute("href")
    assert href is not None
    for width, scheme in ((1440, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(href)
        expect(page.locator("h1")).to_have_text(QUESTION)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        keep(page, f"answer-page-{width}")
    page.get_by_role("link", name="Auf Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("h1")).to_have_text(GERMAN)
