"""Staff before the nightly sample, its figures and the promise, in Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import ARTEFACTS, start
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
SAMPLES = """
import datetime, random, uuid
from django.contrib.auth.models import User
from django.utils import timezone
from analytics.models import QualityDrop, SampledAnswer, SampleVerdict
from chat.models import Assistant, Citation, Conversation, Message, Visitor
from knowledge.models import Document
assistant, document = Assistant.objects.first(), Document.objects.first()
members = [User.objects.create_user(name, is_staff=True) for name in ("ada", "bo")]
chance, today = random.Random(1), timezone.localdate()
for days in range(70, 1, -1):
    for number in range(5):
        evidence = round(0.4 + chance.random() * 0.5, 2)
        is_right = chance.random() < 0.75 + evidence / 4
        good, bad = ("correct_answer", "wrong_answer") if number != 4 else ("correct_abstention", "missing_knowledge")
        said = good if is_right else bad
        of_model = (bad if said == good else good) if chance.random() < 0.1 else said
        row = SampledAnswer.objects.create(
            assistant=assistant, day=today - datetime.timedelta(days=days), evidence=evidence, is_shown=number != 4,
            is_newcomer=True, threshold=0.4, model_verdict=of_model if days < 50 else "",
        )
        for at, member in enumerate(members):
            other = bad if said == good else good
            given = other if at and chance.random() < 0.08 else said
            SampleVerdict.objects.create(answer=row, by=member, verdict=given)
QualityDrop.objects.create(
    assistant=assistant, share=0.4, share_before=0.91, first_day=today - datetime.timedelta(days=2)
)
for text, status in (("The fee is 318.40 euros. [1]", "complete"), ("I could not find this.", "abstained")):
    said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
    question = Message.objects.create(
        conversation=said, role="user", client_id=uuid.uuid4(), text="How much is the fee?", language="en"
    )
    answer = Message.objects.create(
        conversation=said, role="assistant", question=question, text=text, language="en", status=status,
        route="question", evidence=0.7,
    )
    if status == "complete":
        Citation.objects.create(
            message=answer, n=1, document=document, title=document.title, url=document.url,
            quote="The semester contribution is 318.40 euros each semester.",
        )
    SampledAnswer.objects.create(
        message=answer, assistant=assistant, day=today - datetime.timedelta(days=1), evidence=0.7,
        is_shown=status == "complete", is_newcomer=True, threshold=0.4,
    )
print(assistant.pk)
"""


@pytest.fixture(scope="module")
def pages() -> Iterator[tuple[Run, dict[str, str]]]:
    """Provide the stack with ten weeks of judged samples, and two answers to judge."""
    with start(JUDGE_BASE_URL="http://127.0.0.1:9/v1", JUDGE_MODEL="judge-8b") as run:
        assistant = run.does(SAMPLES).strip()
        promise = f"/admin/quality/promise/{assistant}/"
        yield (
            run,
            {
                "quality": "/admin/quality/",
                "judge": "/admin/quality/judge/",
                "promise": f"{promise}?share=5&form=mean",
                "few": f"{promise}?share=1&form=probable",
            },
        )


@pytest.mark.parametrize(
    ("width", "scheme", "locale"),
    [(360, "dark", "de-DE"), (768, "light", "de-DE"), (1440, "light", "en-GB"), (1440, "dark", "en-GB")],
)
def test_the_pages_fit_and_have_no_barrier_that_a_machine_finds(
    browser: Browser, pages: tuple[Run, dict[str, str]], width: int, scheme: str, locale: str
) -> None:
    run, paths = pages
    page = administrator(browser, run, locale, "dark" if scheme == "dark" else "light", width)
    found = {}
    for name, path in paths.items():
        found[name] = faults(page, path)
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"quality-{name}-{width}-{scheme}-{locale[:2]}.png", full_page=True)
    page.context.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_answers_are_judged_one_after_the_other_and_a_promise_is_applied_in_one_click(
    browser: Browser, pages: tuple[Run, dict[str, str]]
) -> None:
    run, paths = pages
    page = administrator(browser, run, "en-GB", "light", 1440)
    page.goto(paths["quality"])
    page.get_by_role("link", name="Judge 2 answers").click()
    page.get_by_label("Wrong").check()
    page.get_by_role("button", name="Save and next").click()
    page.get_by_label("Right not to answer").check()
    page.get_by_role("button", name="Save and next").click()
    expect(page.get_by_text("You have judged everything that was drawn.")).to_be_visible()
    page.goto(paths["promise"])
    page.get_by_role("button", name="Need evidence of").click()
    expect(page.get_by_text("The assistant needs evidence of")).to_be_visible()
    expect(page.get_by_text("Today’s threshold keeps it.")).to_be_visible()
    page.context.close()
