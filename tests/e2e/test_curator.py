"""From a question that nobody could answer to its answer, as a curator goes through it in Chromium."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import keep, violations
from tests.e2e.test_chat_page import ask, enter, finished, test_id
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
QUESTION = "Where can I borrow a projector for a student party?"
PARAPHRASE = "Can students borrow a projector somewhere for a party?"
PAGE = "University Library"
#: What a job of the worker may take on a busy machine, in milliseconds.
PATIENT = 120_000
A_CURATOR = """
from django.contrib.auth.models import Group, User
from chat.models import Assistant
from knowledge.models import Collection
office, _made = Group.objects.get_or_create(name="Student office")
curator, _made = User.objects.get_or_create(username="curator", defaults={"is_staff": True})
curator.set_password("a long way to the badge")
curator.save()
curator.groups.set([Group.objects.get(name="Curator"), office])
Collection.objects.get(slug="lindental").teams.add(office)
Assistant.objects.get(slug="lindental").teams.add(office)
"""


@pytest.fixture
def office(browser: Browser, quoting: Run) -> Iterator[Page]:
    """Provide a curator's page, logged in; whatever goes wrong in it fails the test."""
    quoting.does(A_CURATOR)
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    problems: list[str] = []
    context.on("page", lambda opened: opened.on("pageerror", lambda error: problems.append(str(error))))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/")
    page.get_by_label("Username").fill("curator")
    page.get_by_label("Password").fill("a long way to the badge")
    page.get_by_role("button", name="Log in").click()
    yield page
    context.close()
    assert problems == []


class Steps:
    """Looks at each page that the curator comes to, and adds up what they need for it."""

    def __init__(self) -> None:
        self.seconds, self._since, self._number = 0.0, time.monotonic(), 0
        self.faults: list[str] = []

    def look(self, page: Page, name: str, *, narrow: bool = False) -> None:
        self.pause()
        self._number += 1
        keep(page, f"curator-{self._number}-{name}")
        # Opened once more beside it: the styles that axe brings along are blocked, which the page would report.
        beside = page.context.browser.new_context(  # type: ignore[union-attr]
            viewport={"width": 360 if narrow else 1440, "height": 800},
            locale="en-GB",
            storage_state=page.context.storage_state(),
        )
        other = beside.new_page()
        other.goto(page.url)
        self.faults += [f"{name}: {fault}" for fault in violations(other)]
        if narrow:
            keep(other, f"curator-{self._number}-{name}-360")
            width = other.evaluate("document.documentElement.scrollWidth")
            if width > 360:
                self.faults.append(f"{name}: {width} pixels wide on a phone")
        beside.close()
        self.go_on()

    def pause(self) -> None:
        self.seconds += time.monotonic() - self._since

    def go_on(self) -> None:
        self._since = time.monotonic()


def wait_for_news(office: Page) -> None:
    """Wait for the worker, which looks for answers to review once a minute."""
    until = time.monotonic() + PATIENT / 1000
    news = office.get_by_role("link", name=re.compile(r"questions? got no answer"))
    while not news.count():
        assert time.monotonic() < until, "the worker found no answer to review"
        office.wait_for_timeout(2000)
        office.reload()


def is_answered_with(answer: Locator, title: str) -> None:
    expect(test_id(answer, "source").first).to_contain_text(title)


def test_an_unanswered_question_becomes_an_faq_that_answers_it(page: Page, office: Page, quoting: Run) -> None:
    enter(page, quoting)
    finished(ask(page, QUESTION), "abstained")
    keep(page, "curator-0-unanswered")

    wait_for_news(office)
    steps = Steps()
    steps.look(office, "home", narrow=True)
    office.get_by_role("link", name="Inbox", exact=True).click()
    office.get_by_role("button", name="Update topics now").click()
    steps.pause()
    topic = office.locator('a[href*="/analytics/gap/"]', has_text=QUESTION)  # until then its answer stands there alone
    expect(topic).to_be_visible(timeout=PATIENT)
    steps.go_on()
    steps.look(office, "gaps", narrow=True)

    topic.click()
    expect(office).to_have_url(re.compile(r"/analytics/gap/\d+/change/"))
    steps.look(office, "gap", narrow=True)
    office.get_by_role("checkbox", name=PAGE).check()
    office.get_by_role("button", name="Make a draft FAQ").click()
    expect(office.get_by_text("A draft FAQ was made.")).to_be_visible()
    steps.look(office, "draft", narrow=True)

    with office.context.expect_page() as opened:
        office.get_by_role("button", name="Test before publishing, on all questions").click()
    tried = opened.value
    steps.pause()
    expect(tried.get_by_text("finished")).to_be_visible(timeout=PATIENT)
    steps.go_on()
    steps.look(tried, "shadow-test", narrow=True)
    tried.get_by_role("button", name="Publish", exact=True).click()
    expect(tried.get_by_text("is live.")).to_be_visible()
    steps.look(tried, "published")
    tried.get_by_role("link", name=QUESTION).click()
    tried.get_by_role("button", name="solved").click()
    expect(tried.get_by_text("1 topic is now “solved”.")).to_be_visible()
    steps.pause()
    print(f"the curator's way took {steps.seconds:.1f} s")

    page.wait_for_timeout(1000)  # what is published counts within a second
    is_answered_with(finished(ask(page, QUESTION)), PAGE)
    is_answered_with(finished(ask(page, PARAPHRASE)), PAGE)
    keep(page, "curator-9-answered")
    assert steps.faults == []


def test_boxes_have_their_fields_names_however_late_they_come(office: Page, quoting: Run) -> None:
    office.add_init_script("const soon = setTimeout; window.setTimeout = (then, wait = 0) => soon(then, wait + 2000)")
    office.goto(f"http://127.0.0.1:{quoting.port}/admin/faqs/faq/add/")
    boxes = office.locator(".select2-selection")
    expect(boxes.and_(office.get_by_role("combobox", name="Category"))).to_be_visible()
    office.locator("#sources-group .add-row a").click()
    expect(boxes.and_(office.get_by_role("combobox", name="Document"))).to_have_count(2)
