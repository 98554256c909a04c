"""From a student's answer to what it was made from, and to what it would be today, in Chromium."""

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import ARTEFACTS
from tests.e2e.test_chat_page import ask, finished
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run
from tests.servers import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
QUESTION = "How much money must there be in the blocked account?"
THEN, TODAY = "11,904", "12,324"
#: Puts another sum on the pages that name it. No other test asks for it.
CHANGE = """
from knowledge.models import Document
from knowledge.services.documents import save_document
for document in Document.objects.filter(text__contains={then!r}):
    document.text = document.text.replace({then!r}, {today!r})
    save_document(document=document)
"""


@pytest.fixture(scope="module")
def why(browser: Browser, quoting: Run) -> str:
    """Ask as a student does; return the address of the page that tells why, as a link leads to it."""
    student = browser.new_page(base_url=f"http://127.0.0.1:{quoting.port}", locale="en-GB")
    student.goto("/")
    student.locator('[data-test="consent-agree"]').click()
    finished(ask(student, QUESTION))
    student.close()
    page = administrator(browser, quoting, "en-GB", "light", 1440)
    page.goto("/admin/chat/conversation/")
    page.get_by_role("link", name=QUESTION).first.click()
    page.get_by_role("link", name="Why this answer").first.click()
    expect(page.get_by_role("heading", name="What was read")).to_be_visible()
    address = page.url
    page.context.close()
    return address


@pytest.mark.parametrize(
    ("width", "scheme", "locale"), [(360, "dark", "de-DE"), (768, "light", "de-DE"), (1440, "light", "en-GB")]
)
def test_the_page_fits_and_has_no_barrier_that_a_machine_finds(
    browser: Browser, quoting: Run, why: str, width: int, scheme: str, locale: str
) -> None:
    page = administrator(browser, quoting, locale, "dark" if scheme == "dark" else "light", width)
    assert faults(page, why) == []
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"why-{width}-{scheme}-{locale[:2]}.png", full_page=True)
    page.context.close()


def test_asked_again_both_sides_stand_beside_each_other_with_what_is_different(
    browser: Browser, quoting: Run, why: str
) -> None:
    quoting.does(CHANGE.format(then=THEN, today=TODAY))
    page = administrator(browser, quoting, "en-GB", "light", 1440)
    page.goto(why)
    expect(page.get_by_text(THEN).first).to_be_visible()

    def is_asked_of_the_new_page() -> bool:
        page.get_by_role("button", name="Ask again today").click()
        expect(page.get_by_role("heading", name="What is different today")).to_be_visible()
        return page.get_by_text(TODAY).count() > 0

    wait_until(is_asked_of_the_new_page, 60)  # a worker indexes it
    expect(page.get_by_text(THEN).first).to_be_visible()
    page.screenshot(path=ARTEFACTS / "why-again.png", full_page=True)
    page.context.close()
