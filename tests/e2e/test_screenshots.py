"""The pictures of the documentation, from the real stack with the demo university.

`make screenshots` makes them and keeps them in `docs/screenshots`.
"""

import json
import os
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import drawn, start
from tests.e2e.test_chat_page import FEE, LONG, ask, enter, finished, test_id
from tests.runtime.processes import ROOT
from tests.runtime.stack import Run

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(900),
    pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="made by `make screenshots`"),
]
FOLDER = ROOT / os.environ.get("SCREENSHOTS", "docs/screenshots")
#: A page as a person at a desk sees it, and a phone.
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 780}
CHAT, TALL = {"width": 1100, "height": 840}, {"width": 1440, "height": 1500}
LOCALES = {"en": "en-GB", "de": "de-DE"}
UNANSWERED = "Where can I borrow a projector for a student party?"
PATIENT = 180_000
#: More students who asked in vain, a bad rating, then what a night does: reviews and gaps.
A_DAY_LATER = f"""
import uuid
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from analytics.gaps.run import work_on
from analytics.models import GapRun
from analytics.reviews.collect import collect
from analytics.evaluation.services import keep_as_regression
from chat.models import Assistant, Conversation, Feedback, Message, Visitor
from knowledge.models import Document
assistant = Assistant.objects.get(slug="lindental")
answered = Message.objects.filter(status="complete", question__text={FEE!r}).first()
Feedback.objects.create(message=answered, value=-1, reasons=["incomplete"], comment="When do I have to pay it?")
for text in (
    "Can I borrow a projector for a party?", "Who lends projectors for student parties?",
    "Is there a discount for the municipal theatre?", "Theatre tickets: do students pay less?",
    "Darf mein Hund mit in die Bibliothek?",
):
    said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
    question = Message.objects.create(
        conversation=said, role="user", client_id=uuid.uuid4(), text=text, language="de" if "Hund" in text else "en"
    )
    Message.objects.create(
        conversation=said, role="assistant", question=question, status="abstained", reason="no_evidence",
        text="I found nothing about this.", language=question.language, finished_at=timezone.now(),
    )
    Message.objects.filter(conversation=said).update(created_at=timezone.now() - timedelta(days=1))
collect()
run = GapRun.objects.enqueue()
work_on(run.pk)
library = Document.objects.filter(title="University Library").first()
for question in Message.objects.filter(role="user", text__in=[{FEE!r}, {UNANSWERED!r}]):
    kept = keep_as_regression(message=question, by=User.objects.get(username="admin"))
    if not kept.judgments.exists():
        kept.judgments.create(document=library)
        kept.answerable = True
        kept.save()
"""
WHERE = """
import json
from analytics.models import Gap, Review
from chat.models import Assistant, Conversation, Site
from faqs.models import FAQ
from knowledge.models import Document
gap = Gap.objects.order_by("-weight").first()
print(json.dumps({
    "gap": gap.pk,
    "review": Review.objects.filter(reasons__contains=["thumbs_down"]).first().pk,
    "faq": FAQ.objects.get(external_id="faq-msc-ds-deadline").pk,
    "document": Document.objects.get(url="https://www.uni-lindental.example/en/fees/semester-contribution").pk,
    "conversation": str(Conversation.objects.filter(messages__strategy="extractive").order_by("created_at").first().pk),
    "assistant": Assistant.objects.get(slug="lindental").pk,
    "site": Site.objects.get(is_default=True).pk,
    "public": Site.objects.get(is_default=True).public_id,
}))
"""
#: As a university has it, in place of this machine's own addresses.
A_SITE = """
from chat.models import Site
Site.objects.filter(is_default=True).update(allowed_origins=["https://www.uni-lindental.example"])
"""
#: Two terms of made-up conversations, for figures and those before.
TWO_TERMS = """
import datetime
from django.utils import timezone
from analytics.counts.refresh import count_changed
from benchmarks.usage_data import add_usage, make_university
from chat.models import Assistant
university = make_university(documents=40, faqs=20)
today = timezone.localdate()
add_usage(university, messages=12_000, first=today - datetime.timedelta(days=180), last=today)
count_changed()
"""
#: By name: the page's address, with what `WHERE` found.
STAFF = {
    "home": "/admin/",
    "try": "/admin/try/?question=When+do+I+have+to+apply+for+Data+Science%3F",
    "faqs": "/admin/faqs/faq/",
    "faq": "/admin/faqs/faq/{faq}/change/",
    "document": "/admin/knowledge/document/{document}/change/",
    "to-do": "/admin/to-do/",
    "gap": "/admin/analytics/gap/{gap}/change/",
    "review": "/admin/analytics/review/{review}/change/",
    "conversation": "/admin/chat/conversation/{conversation}/change/",
    "assistant": "/admin/chat/assistant/{assistant}/change/",
}
#: What the guide for staff does not show, and the German one thus neither.
ENGLISH = {"site": "/admin/chat/site/{site}/change/"}


@pytest.fixture(scope="module")
def demo() -> Iterator[Run]:
    with start() as run:
        yield run


def opened(browser: Browser, size: dict[str, int], language: str) -> Page:
    return browser.new_context(viewport=size, locale=LOCALES[language], color_scheme="light").new_page()  # type: ignore[arg-type]


def keep(page: Page, name: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    page.evaluate("document.activeElement && document.activeElement.blur()")
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    # With a palette: a third of the size, and nobody sees the difference.
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


def logged_in(browser: Browser, run: Run, language: str) -> Page:
    page = opened(browser, DESK, language)
    page.goto(f"http://127.0.0.1:{run.port}/admin/login/")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(run.password)
    page.locator("input[type=submit]").click()
    expect(page.locator("#site-name")).to_be_visible()
    return page


def what_students_see(browser: Browser, demo: Run) -> None:
    page = opened(browser, CHAT, "en")
    page.goto(f"http://127.0.0.1:{demo.port}/")
    expect(test_id(page, "consent")).to_be_visible()
    keep(page, "consent")
    enter(page, demo)
    finished(ask(page, FEE))
    keep(page, "answer")
    page.context.close()
    page = opened(browser, CHAT, "en")
    enter(page, demo)
    finished(ask(page, "Who won the football World Cup in 2014?"), "abstained")
    keep(page, "abstention")
    finished(ask(page, UNANSWERED), "abstained")
    page.context.close()
    page = opened(browser, PHONE, "de")
    enter(page, demo)
    finished(ask(page, "Wie hoch ist der Semesterbeitrag?"))
    keep(page, "phone-de")
    page.context.close()


def the_widget(browser: Browser, demo: Run, public_id: str) -> None:
    page = logged_in(browser, demo, "en")
    page.goto(f"http://127.0.0.1:{demo.port}/widget/test?site={public_id}")
    launcher = test_id(page, "launcher")
    expect(launcher).to_be_visible(timeout=LONG)
    launcher.click()
    expect(test_id(page, "consent-agree")).to_be_visible()
    page.wait_for_timeout(500)
    keep(page, "widget")
    page.context.close()


def tried(page: Page, address: str) -> Page:
    """Return the shadow test of the draft FAQ that a gap leads to."""
    page.goto(address)
    page.get_by_role("checkbox", name="University Library").check()
    page.get_by_role("button", name="Make a draft FAQ").click()
    expect(page.get_by_text("A draft FAQ was made.")).to_be_visible()
    with page.context.expect_page() as other:
        page.get_by_role("button", name="Test before publishing, on all questions").click()
    test = other.value
    expect(test.get_by_text("finished")).to_be_visible(timeout=PATIENT)
    return test


def test_the_pictures_are_made(browser: Browser, demo: Run) -> None:
    what_students_see(browser, demo)
    demo.does(A_DAY_LATER)
    where = json.loads(demo.does(WHERE))
    the_widget(browser, demo, where["public"])
    demo.does(A_SITE)
    here = f"http://127.0.0.1:{demo.port}"
    pages = {language: logged_in(browser, demo, language) for language in LOCALES}
    for language, page in pages.items():
        for name, address in (STAFF | (ENGLISH if language == "en" else {})).items():
            page.goto(here + address.format(**where))
            expect(page.locator("#content")).to_be_visible()
            page.wait_for_timeout(300)
            keep(page, f"{name}-{language}")
    test = tried(pages["en"], here + STAFF["gap"].format(**where))
    keep(test, "shadow-test-en")
    pages["de"].goto(test.url)
    keep(pages["de"], "shadow-test-de")
    demo.does(TWO_TERMS)
    analyst = pages["en"]
    analyst.goto(f"{here}/admin/analytics/report/add/")
    expect(analyst.get_by_label("Period")).to_be_visible()
    keep(analyst, "reports-en")
    analyst.set_viewport_size(TALL)  # type: ignore[arg-type]
    analyst.goto(f"{here}/admin/dashboard/?range=90")
    drawn(analyst)
    keep(analyst, "dashboard-en")
    assert len(list(FOLDER.glob("*.png"))) >= 5 + 2 * (len(STAFF) + 1) + len(ENGLISH) + 2
