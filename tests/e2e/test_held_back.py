"""Staff before the sentences that were held back, in Chromium: their list, a conversation, a review."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import ARTEFACTS, start, violations
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
HELD_BACK = """
import uuid
from django.utils import timezone
from analytics.models import HeldBackRise, Review
from analytics.counts.refresh import count_changed
from chat.models import Assistant, Conversation, HeldBackSentence, Message, Visitor
from knowledge.models import Document
assistant, document = Assistant.objects.first(), Document.objects.first()
said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
question = Message.objects.create(
    conversation=said, role="user", client_id=uuid.uuid4(), text="How much is the semester contribution?", language="en"
)
quote = "The semester contribution is 318.40 euros each semester."
answer = Message.objects.create(
    conversation=said, role="assistant", question=question, text=f"\\u201c{quote}\\u201d [1]", language="en",
    strategy="generated", notice="partly_quoted", model="fake", sentences_shown=3, sentences_quoted=1,
    sentences_left_out=3, finished_at=timezone.now(),
)
page = {"document": document, "title": document.title, "url": document.url, "page_words": quote}
for n, (text, reasons, parts, outcome, place) in enumerate((
    ("The contribution is 300 euros.", ["figure", "name"], ["300 euros", ""], "quoted", page),
    ("It must be paid by all students, whatever they study and wherever they live.", ["quantifier", "modality"],
     ["all", "obliged"], "repeated", page),
    ('Pay here: <a href="https://pay.example/a-very-long-address-without-any-blank-in-it-at-all-0123456789">now</a>',
     ["link"], ["https://pay.example/a-very-long-address-without-any-blank-in-it-at-all-0123456789"], "left_out", {}),
    ("You will certainly be admitted.", ["decision"], ["You will certainly be admitted."], "left_out", {}),
), start=1):
    HeldBackSentence.objects.create(
        message=answer, n=n, assistant=assistant, language="en", text=text, reasons=reasons, parts=parts,
        outcome=outcome, **place
    )
HeldBackRise.objects.create(
    assistant=assistant, share=0.57, share_before=0.31, reason="figure", first_day=timezone.localdate()
)
review = Review.objects.create(
    message=answer, assistant=assistant, asked_at=timezone.now(), reasons=["thumbs_down"], language="en"
)
count_changed()
print(said.pk, review.pk)
"""
LIST = "/admin/chat/heldbacksentence/"


@pytest.fixture(scope="module")
def addresses() -> Iterator[tuple[Run, dict[str, str]]]:
    """Provide the stack with an answer of which four sentences were held back, and the pages that show them."""
    with start() as run:
        empty = {"list": LIST, "home": "/admin/", "dashboard": "/admin/dashboard/"}
        conversation, review = run.does(HELD_BACK).split()
        yield (
            run,
            {
                **empty,
                "conversation": f"/admin/chat/conversation/{conversation}/change/",
                "review": f"/admin/analytics/review/{review}/change/",
            },
        )


@pytest.mark.parametrize(
    ("width", "scheme", "locale"),
    [
        *((390, "light", "en-GB"), (390, "dark", "de-DE"), (768, "light", "de-DE")),
        *((1440, "light", "de-DE"), (1440, "dark", "en-GB")),
    ],
)
def test_the_pages_fit_and_have_no_barrier_that_a_machine_finds(
    browser: Browser, addresses: tuple[Run, dict[str, str]], width: int, scheme: str, locale: str
) -> None:
    run, paths = addresses
    page = administrator(browser, run, locale, "dark" if scheme == "dark" else "light", width)
    found = {}
    for name, path in paths.items():
        found[name] = faults(page, path)
        if name == "conversation":
            page.locator("details.turn__details").evaluate_all("all => all.forEach(each => { each.open = true })")
            found[name] += violations(page)
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"held-back-{name}-{width}-{scheme}-{locale[:2]}.png", full_page=True)
    page.context.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def sentence(page: Page, text: str) -> Locator:
    return page.locator(".held-back__item").filter(has_text=text)


def test_sentences_are_judged_with_the_keyboard_and_what_was_typed_beside_them_stays(
    browser: Browser, addresses: tuple[Run, dict[str, str]]
) -> None:
    run, paths = addresses
    page = administrator(browser, run, "en-GB", "light", 1440)
    page.goto(paths["review"])
    page.get_by_label("Comment for colleagues").fill("The page is clear on this.")
    first = sentence(page, "The contribution is 300 euros.")
    first.get_by_role("button", name="Right not to show").focus()
    page.keyboard.press("Enter")
    expect(first.locator(".held-back__verdict")).to_have_text(re.compile(r"Right not to show\s+admin, "))
    expect(first.get_by_role("button", name="Undo")).to_be_focused()
    expect(page.get_by_label("Comment for colleagues")).to_have_value("The page is clear on this.")
    page.keyboard.press("Enter")
    expect(first.get_by_role("button", name="Right not to show")).to_be_focused()
    page.get_by_label("Comment for colleagues").fill("")
    page.context.close()


def test_of_two_windows_the_second_is_told(browser: Browser, addresses: tuple[Run, dict[str, str]]) -> None:
    run, _paths = addresses
    pages = [administrator(browser, run, "en-GB", "light", 1440) for _ in range(2)]
    for page in pages:
        page.goto(LIST)
    for page, name in zip(pages, ("Was right", "Right not to show"), strict=True):
        sentence(page, "It must be paid by all").get_by_role("button", name=name).click()
    second = sentence(pages[1], "It must be paid by all")
    expect(second.get_by_role("alert")).to_contain_text("Somebody was quicker")
    expect(second.locator(".held-back__verdict")).to_contain_text("Was right")
    for page in pages:
        page.context.close()


def test_without_scripts_the_buttons_send_their_form(browser: Browser, addresses: tuple[Run, dict[str, str]]) -> None:
    run, _paths = addresses
    signed_in = administrator(browser, run, "en-GB", "light", 1440)
    context = browser.new_context(
        java_script_enabled=False, storage_state=signed_in.context.storage_state(), locale="en-GB"
    )
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{run.port}{LIST}?judgement=none")
    sentence(page, "You will certainly be admitted.").get_by_role("button", name="Right not to show").click()
    expect(page).to_have_url(re.compile(r"judgement=none#held-\d+$"))
    expect(sentence(page, "You will certainly be admitted.")).to_have_count(0)
    context.close()
    signed_in.context.close()
