"""An analyst before the dashboard, in Chromium, on the real stack with half a year of conversations."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import ARTEFACTS, drawn, keep, start, violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
PASSWORD = "a long enough password"
FILL = """
import datetime
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.utils import timezone
from analytics.models import EvaluationRun, EvaluationSet, Gap, TimelineDate, Topic, TopicQuestion
from analytics.counts.refresh import count_changed
from benchmarks.usage_data import add_usage, make_university
from analytics.topics.counting import count_topics
from analytics.topics.services import merge_topic
from chat.models import Assistant, Message
university = make_university(documents=60, faqs=25)
today = timezone.localdate()
add_usage(university, messages=9_000, first=today - datetime.timedelta(days=200), last=today)
add_usage(university, messages=300, first=today, last=today, seed=2)
# A day with so many that none of what became of them is a small group, also at night, when today's are still open.
yesterday = today - datetime.timedelta(days=1)
add_usage(university, messages=3_000, first=yesterday, last=yesterday, seed=3)
for number, name in enumerate(("Parking permits for bicycles", "Wie lange gilt das Semesterticket im Ausland?")):
    Gap.objects.create(
        name=name, assistant=university.assistants[0], weight=9 - number, visitors=19 - 5 * number,
        this_week=6 - 4 * number, week_before=3, question_count=22, first_asked=timezone.now(),
        last_asked=timezone.now(), centroid=bytes(8), recipe="none",
    )
asked = Message.objects.filter(role="user", conversation__assistant=university.assistants[0]).order_by("-pk")[:900]
for number, name in enumerate((
    "How do I get a parking permit for my bicycle?", "When are the exams?",
    "Wie lange gilt das Semesterticket im Ausland, und was kostet es, wenn ich ein halbes Jahr beurlaubt bin?",
)):
    topic = Topic.objects.create(
        name=name, assistant=university.assistants[0], language="en", centroid=bytes(8), recipe="none",
    )
    TopicQuestion.objects.bulk_create(
        TopicQuestion(message=each, topic=topic, centrality=0.9) for each in asked[number * 300 : number * 300 + 300]
    )
joined = Topic.objects.create(
    name="Parking for cars", named_by="staff", assistant=university.assistants[0], centroid=bytes(8), recipe="none",
)
merge_topic(topic=joined, version=0, into=Topic.objects.get(name__contains="parking permit"))
count_topics()
count_changed()
for days, text in ((12, "Lectures begin"), (40, "Enrolment ends")):
    TimelineDate.objects.create(day=today - datetime.timedelta(days=days), text=text)
measured = EvaluationSet.objects.create(name="Exams")
profiles = ("default", "bm25", "dense", "hybrid with a long name and a reranker", "hyde", "faq", "wide")
for number in range(28):
    score = 0.45 + 0.02 * (number % 7) + 0.005 * number
    values = {"retrieval": {"mrr": score, "recall@5": score + 0.1, "ndcg@10": score + 0.05}, "evidence": {"auroc": 0.8}}
    EvaluationRun.objects.create(
        evaluation_set=measured, profile=profiles[number % 7], state="finished", results=values
    )
def staff(name, *permissions):
    user = get_user_model().objects.create_user(name, password="a long enough password", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
staff("analyst", "view_dashboard", "whole_university", "view_document", "view_faq")
staff("reader", "view_dashboard", "whole_university", "view_conversation", "view_gap", "view_faq", "see_small_groups",
      "view_evaluationset", "view_evaluationrun", "view_topic")
staff("curator", "view_dashboard", "whole_university", "see_small_groups", "view_topic", "change_topic",
      "view_conversation", "export_reports")
print(university.assistants[0].pk)
"""


@pytest.fixture(scope="module")
def used() -> Iterator[Run]:
    with start() as run:
        run.does(FILL)
        yield run


def signed_in(browser: Browser, run: Run, name: str = "analyst", **options: Any) -> Page:
    context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}, "locale": "en-GB"} | options))
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{run.port}/admin/login/?next=/admin/dashboard/")
    page.locator("#id_username").fill(name)
    page.locator("#id_password").fill(PASSWORD)
    page.locator("input[type=submit]").click()
    expect(page.locator(".cards__item").first).to_be_visible()
    return page


def whole(page: Page, name: str) -> None:
    """Save a screenshot of the whole page for people to look at."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)


def test_an_analyst_changes_the_period_and_the_step(browser: Browser, used: Run) -> None:
    page = signed_in(browser, used)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    expect(page.locator(".choices__range[aria-current]")).to_have_text("30 days")
    page.get_by_role("link", name="90 days").click()
    drawn(page)
    assert "range=90" in page.url
    assert page.locator("canvas").count() == 10
    page.get_by_label("By").select_option("week")
    page.get_by_role("button", name="Show").click()
    drawn(page)
    labels = page.evaluate("Chart.getChart(document.querySelector('canvas')).data.labels.length")
    assert 13 <= labels <= 14
    assert page.locator("a[href*='chat/conversation']").count() == 0
    page.locator("#id_to").fill("2020-01-01")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".choices .errorlist")).to_have_text("The last day is before the first one.")
    assert problems == []
    page.context.close()


def test_a_figure_leads_to_its_conversations_by_mouse_and_by_keys(browser: Browser, used: Run) -> None:
    page = signed_in(browser, used, "reader")
    abstained = page.locator(".cards__item", has=page.get_by_text("No answer given", exact=True)).locator("a")
    shown = int(abstained.inner_text().replace(",", ""))
    abstained.click()
    expect(page).to_have_url(re.compile(r"asked=.*answer=abstained"))
    shows = re.compile(r"([\d,]+) conversations")
    expect(page.locator(".paginator")).to_have_text(shows)
    counted = shows.search(page.locator(".paginator").inner_text())
    assert counted
    found = int(counted[1].replace(",", ""))
    assert 0 < found <= shown
    assert violations(page) == []
    keep(page, "dashboard-conversations")
    page.go_back()
    drawn(page)
    page.locator("canvas").first.focus()
    page.keyboard.press("End")
    said = page.locator("[data-chart-point]").first
    expect(said).to_contain_text("Questions")
    for _day in range(12):
        page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("; Lectures begin")
    keep(page, "dashboard-what-happened")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    keep(page, "dashboard-keys")
    page.keyboard.press("Enter")
    expect(page.locator("#result_list")).to_be_visible()
    page.context.close()


def test_without_scripts_there_are_the_tables(browser: Browser, used: Run) -> None:
    page = signed_in(browser, used, java_script_enabled=False)
    assert not page.locator("canvas").first.is_visible()
    summary = page.locator(".chart__table summary").first
    summary.click()
    expect(page.locator(".chart__table table").first).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "de-DE")])
def test_the_page_fits_and_is_accessible(browser: Browser, used: Run, width: int, scheme: str, locale: str) -> None:
    size = {"width": width, "height": 800}
    page = signed_in(browser, used, "reader", viewport=size, locale=locale, color_scheme=scheme)
    page.goto(f"{page.url.split('?')[0]}?range=90")
    drawn(page)
    whole(page, f"dashboard-{width}-{scheme}-{locale[:2]}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    for details in page.locator(".chart__table summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


@pytest.mark.parametrize(
    ("width", "scheme", "locale"), [(360, "dark", "de-DE"), (768, "light", "de-DE"), (1440, "light", "en-GB")]
)
def test_topics_fit_and_are_accessible(browser: Browser, used: Run, width: int, scheme: str, locale: str) -> None:
    size = {"width": width, "height": 800}
    page = signed_in(browser, used, "curator", viewport=size, locale=locale, color_scheme=scheme)
    for name, link in (("topics", "a[href='/admin/topics/']"), ("topic", ".topics tbody a")):
        page.goto(f"http://127.0.0.1:{used.port}{page.locator(link).first.get_attribute('href')}")
        drawn(page)
        whole(page, f"{name}-{width}-{scheme}-{locale[:2]}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
    page.locator("a[href*='report/add/?span']").click()
    page.locator(".report-preview").wait_for()
    whole(page, f"topic-report-{width}-{scheme}-{locale[:2]}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    page.context.close()


def test_from_the_dashboard_a_topic_is_opened_renamed_pinned_joined_and_split_off_again(
    browser: Browser, used: Run
) -> None:
    page = signed_in(browser, used, "curator")
    page.get_by_role("link", name="When are the exams?").click()
    page.get_by_label("Name", exact=True).fill("Exams")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Exams")).to_be_visible()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_text("The topic is pinned.")).to_be_visible()
    page.get_by_label("Join to").select_option(label="How do I get a parking permit for my bicycle?")
    page.get_by_role("button", name="Join", exact=True).click()
    expect(page.get_by_text("The topics are one now.")).to_be_visible()
    page.get_by_text("“Exams” was joined to this topic.").locator("..").get_by_role("button").click()
    expect(page.get_by_text("The topic is one of its own again")).to_be_visible()
    expect(page.get_by_role("heading", name="Exams")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1440)])
def test_the_tables_below_the_charts_are_accessible(browser: Browser, used: Run, scheme: str, width: int) -> None:
    page = signed_in(browser, used, "reader", viewport={"width": width, "height": 800}, color_scheme=scheme)
    for details in page.locator(".chart__table summary").all():
        details.click()
    assert violations(page) == []
    page.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1440)])
def test_the_runs_of_an_evaluation_set_are_drawn(browser: Browser, used: Run, scheme: str, width: int) -> None:
    page = signed_in(browser, used, "reader", viewport={"width": width, "height": 800}, color_scheme=scheme)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(f"http://127.0.0.1:{used.port}/admin/analytics/evaluationset/")
    page.get_by_role("link", name="Exams").click()
    drawn(page)
    assert page.locator("canvas").count() == 4
    whole(page, f"evaluation-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert problems == []
    assert violations(page) == []
    page.context.close()


def test_on_paper_there_are_tables_and_no_navigation(browser: Browser, used: Run) -> None:
    page = signed_in(browser, used, color_scheme="dark")
    drawn(page)
    page.emulate_media(media="print")
    page.wait_for_timeout(400)
    expect(page.locator(".chart__table table").first).to_be_visible()
    expect(page.locator(".choices")).to_be_hidden()
    expect(page.locator("#header")).to_be_hidden()
    whole(page, "dashboard-paper")
    page.emulate_media(media="screen")
    expect(page.locator(".choices")).to_be_visible()
    page.context.close()


def test_a_period_without_questions_says_so(browser: Browser, used: Run) -> None:
    page = signed_in(browser, used)
    page.goto(f"{page.url.split('?')[0]}?from=2001-01-01&to=2001-02-01")
    expect(page.locator(".empty")).to_have_text("Nothing was asked in this period.")
    keep(page, "dashboard-empty")
    page.context.close()


@pytest.mark.parametrize(
    ("width", "scheme", "locale"), [(360, "light", "de-DE"), (768, "dark", "en-GB"), (1440, "light", "en-GB")]
)
def test_two_sides_are_compared(browser: Browser, used: Run, width: int, scheme: str, locale: str) -> None:
    size = {"width": width, "height": 800}
    page = signed_in(browser, used, "reader", viewport=size, locale=locale, color_scheme=scheme)
    expect(page.locator("#id_compare_from")).to_be_hidden()
    page.locator("#id_compare").select_option("dates")
    expect(page.locator("#id_compare_from")).to_be_visible()
    page.locator(".choices__field--button input").click()
    expect(page.locator(".choices .errorlist")).to_be_visible()
    assert violations(page) == []
    page.locator("#id_compare").select_option(index=4)
    page.locator(".choices__field--button input").click()
    drawn(page)
    whole(page, f"compared-{width}-{scheme}-{locale[:2]}")
    assert "compare=assistant" in page.url
    assert page.locator(".charts--pair").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    page.context.close()
