"""Going through the review queue with the keyboard, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import keep, violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
UNANSWERED = """
import uuid
from django.utils import timezone
from chat.models import Assistant, Conversation, Message, Visitor
conversation = Conversation.objects.create(
    pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=Assistant.objects.first()
)
for text in ("What does the moon weigh?", "Who won the cup in 1954?"):
    question = Message.objects.create(
        conversation=conversation, role="user", client_id=uuid.uuid4(), text=text, language="en"
    )
    Message.objects.create(
        conversation=conversation, role="assistant", question=question, status="abstained", reason="no_evidence",
        text="I do not know.", finished_at=timezone.now(),
    )
"""

TOPMOST = """element => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


def faults(page: Page) -> list[str]:
    """Return what axe finds on the page, opened once more beside it: the styles that axe brings along are blocked."""
    beside = page.context.new_page()
    beside.goto(page.url)
    found = violations(beside)
    beside.close()
    return found


def test_the_queue_is_gone_through_with_the_keyboard_and_without_a_slip(page: Page, quoting: Run) -> None:
    quoting.does(UNANSWERED)
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/login/?next=/admin/analytics/review/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(quoting.password)
    page.get_by_role("button", name="Log in").click()
    assert faults(page) == []
    page.get_by_role("link", name="Who won the cup in 1954?").click()
    expect(page.get_by_role("radio", name="No verdict")).to_be_checked()
    assert faults(page) == []
    keep(page, "admin-review")

    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    expect(page.get_by_role("radio", name="Not for this assistant")).to_be_checked()
    page.keyboard.press("c")
    page.keyboard.type("d is for done, 1 is not")
    expect(page.get_by_label("Comment for colleagues")).to_have_value("d is for done, 1 is not")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.get_by_text("is done.")).to_be_visible()
    expect(page.get_by_text("What does the moon weigh?")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Who won the cup in 1954?")).to_be_visible()
    expect(page.get_by_text("d is for done, 1 is not")).to_be_visible()
    page.get_by_label("Use single keys").uncheck()
    page.reload()
    page.keyboard.press("5")
    expect(page.get_by_role("radio", name="No verdict")).to_be_checked()
    page.get_by_label("Use single keys").check()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Previous")).to_be_visible()


def test_an_faq_that_is_not_offered_is_chosen_with_the_keyboard_on_a_narrow_screen(page: Page, quoting: Run) -> None:
    quoting.does(UNANSWERED)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/login/?next=/admin/analytics/review/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(quoting.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="What does the moon weigh?").first.click()
    meant = page.locator("form", has_text="Which FAQ is meant?")
    search = meant.locator(".select2-selection")
    expect(search.and_(page.get_by_role("combobox", name="Search by words of the FAQ"))).to_be_visible()
    search.focus()
    page.keyboard.press("d")
    expect(search).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".select2-search__field")).to_be_focused()  # what is typed before is lost
    page.keyboard.type("book late")
    options = page.locator(".select2-results__option[aria-selected]")
    expect(options.first).to_contain_text("return a book late")
    keep(page, "admin-review-search-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    chosen = options.first.inner_text()
    page.keyboard.press("Enter")
    expect(meant.get_by_role("radio", name="Another FAQ")).to_be_checked()
    expect(search).to_contain_text(chosen)
    assert faults(page) == []
    keep(page, "admin-review-another-phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    # The verdict, which stays in sight on a wide screen, uncovers what is used below it.
    assert search.evaluate(TOPMOST)
    keep(page, "admin-review-another")
    meant.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Noted: the next question like this one is matched so.")).to_be_visible()
    expect(meant.get_by_role("radio", name=chosen)).to_be_checked()
