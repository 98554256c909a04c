"""A curator who was just invited answers what students asked in vain; who words it otherwise gets the answer in the
widget on the university's own website."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.clicks import Curator, invite, sign_in
from tests.e2e.conftest import keep
from tests.e2e.test_curator import PATIENT, wait_for_news
from tests.e2e.university import University
from tests.runtime.stack import Run
from tests.widget.conftest import Stage, Student

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
QUESTION = "Where can I store my surfboard during lectures?"
PARAPHRASE = "Is there a place to store my surfboard while lectures go on?"
ANSWER = "In the bicycle cellar of the Harbour Hall, between 8 am and 6 pm."
ON_A_PAGE = "Where can I borrow a tripod for a film project?"
ON_A_PAGE_PARAPHRASE = "Can students borrow a tripod somewhere for a film project?"
#: From the link in the e-mail to the published answer: what the curator presses and chooses.
MOST_PRESSED = 10
#: From the first page to the published FAQ, where a page has the answer.
MOST_PRESSED_WITH_A_PAGE = 5
#: The topics of the night.
A_NIGHT = "from analytics.tasks import find_gaps\nfind_gaps()"


@pytest.fixture
def student(browser: Browser, quoting: Run) -> Iterator[Student]:
    """Provide a student on the university's website, who has agreed."""
    university = University(quoting)
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    student = Student(context, Stage(university.service, f"{university.origin}/"))
    yield student.enters("page=en")
    context.close()
    university.close()
    assert student.problems == []


@pytest.fixture
def office(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    yield context.new_page()
    context.close()


def test_from_the_invitation_to_a_written_answer_in_the_widget(
    browser: Browser, student: Student, office: Page, quoting: Run
) -> None:
    student.asks(QUESTION, "abstained")
    link, curator = invite(browser, quoting, "Bo"), Curator(office)
    sign_in(curator, link)
    curator.waits()
    wait_for_news(office)
    curator.goes_on()
    curator.press(office.get_by_role("link", name="Inbox", exact=True))
    curator.press(office.get_by_role("button", name="Update topics now"))
    curator.waits()
    topic = office.locator('a[href*="/analytics/gap/"]', has_text=QUESTION)  # until then its answer stands there alone
    expect(topic).to_be_visible(timeout=PATIENT)
    curator.goes_on()
    curator.press(topic)
    curator.press(office.get_by_role("button", name="Make a draft FAQ"))
    # Not by its name: until the editor has taken its place the plain field has the same one.
    curator.press(office.locator('.editor [contenteditable="true"][lang="en"]'))
    office.keyboard.type(ANSWER)
    office.locator("#id_office_en").fill("the Student Office")
    curator.choose(office.locator("#id_status"), "published")
    keep(office, "invited-answer")
    curator.press(office.get_by_role("button", name="Save", exact=True))
    expect(office.locator(".messagelist .success").first).to_be_visible()
    curator.waits()

    student.page.wait_for_timeout(3_000)  # a worker indexes the answer
    for question in (QUESTION, PARAPHRASE):
        expect(student.asks(question).locator('[data-test="office"]')).to_contain_text(ANSWER)
    keep(student.page, "invited-answered")
    curator.arrives(MOST_PRESSED)


def test_from_the_first_page_to_an_faq_with_a_page_in_the_widget(
    browser: Browser, student: Student, office: Page, quoting: Run
) -> None:
    student.asks(ON_A_PAGE, "abstained")
    sign_in(Curator(office), invite(browser, quoting, "Cleo"))
    wait_for_news(office)
    quoting.does(A_NIGHT)
    office.reload()
    curator = Curator(office)
    curator.press(office.locator(".home__gaps").get_by_role("link", name=ON_A_PAGE))
    curator.press(office.get_by_role("checkbox", name="University Library"))
    curator.press(office.get_by_role("button", name="Make a draft FAQ"))
    curator.press(office.get_by_role("button", name="Save and publish"))
    expect(office.locator(".messagelist .success").first).to_be_visible()
    curator.waits()

    student.page.wait_for_timeout(3_000)  # a worker indexes the FAQ
    for question in (ON_A_PAGE, ON_A_PAGE_PARAPHRASE):
        expect(student.asks(question).locator('[data-test="source"]').first).to_contain_text("University Library")
    curator.arrives(MOST_PRESSED_WITH_A_PAGE)
