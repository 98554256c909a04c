"""An analyst without further rights learns of no person and of no small group, whichever door they take."""

import datetime
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analytics.counts.refresh import count_changed
from analytics.dashboard.overview import overview
from analytics.dashboard.suppression import without_small_groups
from analytics.dashboard.visibility import View
from analytics.models import Report, StoredReport
from analytics.periods import Period, Step
from analytics.reports.admin.form import ordered
from analytics.reports.run import work_on
from analytics.reports.services import queue_export
from chat.models import Assistant, Citation, Feedback, Message
from marcelcms.accounts.roles import ANALYST, make_roles
from tests.analytics.reports.rows import agreed, asked, definition
from tests.factories import AssistantFactory, DocumentFactory, FAQFactory, SiteFactory, UserFactory
from tests.staff.api import Program
from tests.staff.matrix.doors import doors
from tests.staff.matrix.world import make_world
from tests.staff.test_permission_matrix import knock
from tests.staff.test_staff_api import BODIES, OPERATIONS

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
LEAST = 5
#: Who asked, in words of their own; the first part is what a file may tell.
PERSONAL = "What are the fees? My name is Anna Schmidt, anna@uni.example, 06421 2812345"
TELLING = ("Anna", "Schmidt", "anna@uni.example", "2812345")
COLUMNS = ("question", "rewritten", "comment", "answer", "language")


@pytest.fixture(autouse=True)
def _alone(settings: Settings, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.SMALLEST_GROUP = LEAST
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", Mock())
    monkeypatch.setattr("celery.app.task.Task.apply_async", Mock())


@pytest.fixture
def analyst() -> User:
    make_roles()
    team = Group.objects.create(name="Faculty of Law")
    member: User = UserFactory(teams=[team, Group.objects.get(name=ANALYST)])
    return member


# --- the doors to figures and to what was asked ---


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def reply_text(reply: Any) -> str:
    said: bytes = reply.getvalue() if reply.streaming else reply.content
    return said.decode()


def report_page(user: User, button: str) -> str:
    sent = {"name": "", "span": "last_30", "format": "jsonl", "columns": COLUMNS, "order": ordered(list(COLUMNS))}
    return reply_text(sign_in(user).post(reverse("admin:analytics_report_add"), {**sent, button: "1"}))


def file_of_a_worker(user: User) -> str:
    stored = queue_export(name="Fees", definition=definition(*COLUMNS, format="jsonl"), by=user)
    work_on(stored.pk)
    if StoredReport.objects.get(pk=stored.pk).state != StoredReport.State.FINISHED:
        return reply_text(sign_in(user).get(reverse("admin:analytics_report_changelist")))
    return reply_text(sign_in(user).get(reverse("admin:analytics_report_download", args=[stored.pk])))


def file_by_api(user: User) -> str:
    dumped = definition(*COLUMNS, format="jsonl").dump()
    report, _is_new = Report.objects.update_or_create(name="Fees", owner=user, defaults={"definition": dumped})
    program = Program(user)
    reply = program.post("/report-exports/", {"report": report.pk})
    if reply.status_code == 400:
        return reply_text(reply)
    key = reply.json()["id"]
    work_on(key)
    return reply_text(program.get(f"/report-exports/{key}/")) + reply_text(program.get(f"/report-exports/{key}/file/"))


FIGURES: dict[str, Callable[[User], str]] = {
    "dashboard": lambda user: reply_text(sign_in(user).get(reverse("dashboard"))),
    "figures by API": lambda user: reply_text(Program(user).get("/figures/")),
}
ANSWERS: dict[str, Callable[[User], str]] = {
    "preview of a report": lambda user: report_page(user, "look"),
    "short report": lambda user: report_page(user, "export"),
    "file of a worker": file_of_a_worker,
    "file by API": file_by_api,
}
ALL = {**FIGURES, **ANSWERS}


def ask(user: User, text: str, *, visitors: int, title: str, language: str = "en") -> None:
    """Ask an assistant of the analyst's yesterday; the answers cite a page of that title."""
    assistant = own_assistant(user)
    asked(text, visitors=visitors, days_ago=1, language=language, assistant=assistant, rewritten=text, comment=text)
    document = DocumentFactory(title=title)
    for answer in Message.objects.filter(role="assistant", question__text=text):
        Citation.objects.create(message=answer, n=1, document=document, title=title, url="u")


def own_assistant(user: User) -> Assistant:
    assistant: Assistant = AssistantFactory()
    assistant.teams.add(user.groups.exclude(name=ANALYST).get())
    return assistant


def without_choices(page: str) -> str:
    return re.sub(r"<option.*?</option>", "", page, flags=re.DOTALL)


def yesterday_at(hour: int) -> datetime.datetime:
    yesterday = timezone.localdate() - datetime.timedelta(days=1)
    return datetime.datetime.combine(yesterday, datetime.time(hour), timezone.get_default_timezone())


@pytest.mark.parametrize("visitors", [1, LEAST - 1, LEAST])
@pytest.mark.parametrize("door", ALL)
def test_a_group_is_told_from_the_smallest_number_of_visitors_on(door: str, visitors: int, analyst: User) -> None:
    ask(analyst, "Usual question?", visitors=3 * LEAST, title="Usual page")
    ask(analyst, "Rare question?", visitors=visitors, title="Rare page", language="de")
    count_changed()
    said = ALL[door](analyst)
    assert "Usual" in said
    assert ("Rare" in said) == (visitors >= LEAST)


@pytest.mark.parametrize("door", ALL)
def test_nothing_at_all_is_told_of_a_handful(door: str, analyst: User) -> None:
    ask(analyst, "Rare question?", visitors=LEAST - 1, title="Rare page")
    count_changed()
    assert "Rare" not in ALL[door](analyst)


@pytest.mark.parametrize("door", ALL)
def test_one_person_is_no_group_whenever_wherever_and_in_whatever_language_they_ask(door: str, analyst: User) -> None:
    """Add nobody, or a crowd whose figures are publishable."""
    assistants = [own_assistant(analyst), own_assistant(analyst)]
    sites = [SiteFactory(assistant=assistant, name="Rare site") for assistant in assistants]
    faq, document = FAQFactory(question="Rare FAQ?"), DocumentFactory(title="Rare page")
    visitor = agreed(timezone.now() - datetime.timedelta(days=2 * LEAST))
    for days_ago in range(1, 2 * LEAST + 1):
        at = days_ago % 2
        site = {"assistant": assistants[at], "site": sites[at], "language": ("en", "de")[at]}
        asked("Rare question?", days_ago=days_ago, visitor=visitor, faq=faq, thumbs=-1, **site)
    for answer in Message.objects.filter(role="assistant"):
        Citation.objects.create(message=answer, n=1, document=document, title="Rare page", url="u")
    count_changed()
    assert "Rare" not in without_choices(ALL[door](analyst))
    ask(analyst, "Usual question?", visitors=3 * LEAST, title="Usual page")
    count_changed()
    told = without_choices(ALL[door](analyst))
    assert "Usual" in told
    assert "Rare" not in told


@pytest.mark.parametrize("door", FIGURES)
def test_who_asked_five_times_in_an_hour_and_was_displeased_is_no_group(door: str, analyst: User) -> None:
    """In a crowd that asked and was displeased at another hour and for another reason."""
    assistant, faq = own_assistant(analyst), FAQFactory(question="Usual FAQ?")
    crowd = yesterday_at(8)
    for _ in range(3 * LEAST):
        said = asked(assistant=assistant, visitor=agreed(crowd), faq=faq)
        Message.objects.filter(conversation=said.conversation).update(created_at=crowd)
    visitor = agreed(yesterday_at(12))
    for _ in range(LEAST):
        said = asked(assistant=assistant, visitor=visitor, thumbs=-1, faq=faq)
        Message.objects.filter(conversation=said.conversation).update(created_at=yesterday_at(12))
    count_changed()
    view = View(Period(crowd.date(), crowd.date()), Step.DAY, analyst)
    found = without_small_groups(overview(view, with_gaps=False), least=LEAST)
    assert found is not None
    assert (found.now.questions, found.now.thumbs_down) == (4 * LEAST, LEAST)
    assert found.spread.hours.count(None) == 2  # one alone would be the whole less the others
    assert found.spread.reasons["wrong"] is None
    assert found.faqs[0].thumbs_down is None
    assert FIGURES[door](analyst)


@pytest.mark.parametrize("door", FIGURES)
def test_as_many_people_as_a_group_needs_are_one_though_each_asks_on_a_day_of_their_own(
    door: str, analyst: User
) -> None:
    assistant = own_assistant(analyst)
    for number in range(LEAST):
        asked(days_ago=5 * number + 1, assistant=assistant, faq=FAQFactory.create())
    count_changed()
    assert "visitors: not shown" not in (said := FIGURES[door](analyst))
    assert '"figures":null' not in said


@pytest.mark.parametrize("door", FIGURES)
def test_people_who_come_back_are_a_group_where_they_ask_on_one_day(door: str, analyst: User) -> None:
    assistant = own_assistant(analyst)
    for _ in range(LEAST):
        asked(days_ago=1, assistant=assistant, visitor=agreed(timezone.now() - datetime.timedelta(days=200)))
    count_changed()
    assert "visitors: not shown" not in (said := FIGURES[door](analyst))
    assert '"figures":null' not in said


@pytest.mark.parametrize("door", ALL)
def test_who_asked_is_told_nowhere(door: str, analyst: User) -> None:
    ask(analyst, PERSONAL, visitors=LEAST, title="Fees page")
    count_changed()
    said = ALL[door](analyst)
    assert ("What are the fees?" in said) == (door in ANSWERS)
    assert [word for word in TELLING if word in said] == []


# --- by what is left out ---


def figures(user: User, **chosen: Any) -> dict[str, Any] | None:
    """Return the figures of the day before yesterday, with what is chosen."""
    day = (timezone.localdate() - datetime.timedelta(days=2)).isoformat()
    address = urlencode({"from": day, "to": day, **chosen})
    found: dict[str, Any] | None = Program(user).get(f"/figures/?{address}").json()["figures"]
    return found


def asked_then(visitors: int, **values: Any) -> Message:
    return asked(visitors=visitors, days_ago=2, **values)


@pytest.mark.parametrize("few", [1, LEAST - 1])
def test_who_asked_in_another_language_is_not_had_by_subtracting(few: int, analyst: User) -> None:
    assistant = own_assistant(analyst)
    asked_then(2 * LEAST - 1, assistant=assistant, language="de")
    asked_then(few, assistant=assistant)
    count_changed()
    told = figures(analyst)
    assert told is not None
    assert told["parts"]["language"] == []
    assert figures(analyst, language="de") is figures(analyst, language="en") is None
    page = reply_text(sign_in(analyst).get(reverse("dashboard"), {"language": "de"}))
    assert "visitors are hidden for privacy. Choose a longer period" in page
    analyst.user_permissions.add(Permission.objects.get(codename="see_small_groups"))
    analyst = User.objects.get(pk=analyst.pk)
    rare = figures(analyst, language="en")
    assert rare is not None
    assert rare["now"]["questions"] == few


def test_each_language_is_told_where_both_are_spoken_by_enough(analyst: User) -> None:
    assistant = own_assistant(analyst)
    asked_then(LEAST, assistant=assistant, language="de")
    asked_then(LEAST, assistant=assistant)
    count_changed()
    for language in ("de", "en"):
        told = figures(analyst, language=language, assistant=assistant.pk)
        assert told is not None
        assert told["now"]["questions"] == LEAST
        assert [part["questions"] for part in told["parts"]["language"]] == [LEAST]


def test_what_a_site_is_told_of_tells_nothing_of_its_assistants_other_site(analyst: User) -> None:
    """Though the two of them have a small group's worth beside a third site of another assistant."""
    mine, other = own_assistant(analyst), own_assistant(analyst)
    busy, quiet, third = (SiteFactory(assistant=assistant) for assistant in (mine, mine, other))
    asked_then(2 * LEAST - 1, assistant=mine, site=busy)
    asked_then(1, assistant=mine, site=quiet)
    asked_then(LEAST + 1, assistant=other, site=third)
    count_changed()
    told = figures(analyst)
    assert told is not None
    assert {part["key"] for part in told["parts"]["assistant"]} == {str(mine.pk), str(other.pk)}
    assert {part["key"] for part in told["parts"]["site"]} == {str(third.pk)}
    assert figures(analyst, site=busy.pk) is figures(analyst, site=quiet.pk) is None
    assert figures(analyst, site=third.pk) is not None


def test_a_narrowed_view_tells_of_no_hour_reason_page_or_faq_that_another_shows_few_more_of(analyst: User) -> None:
    """One person asked in English what everybody asks in German; enough others asked something else, later."""
    assistant, page, faq = own_assistant(analyst), DocumentFactory(title="Usual page"), FAQFactory(question="Usual?")
    for visitors, language in ((LEAST, "de"), (1, "en")):
        last = asked_then(visitors, assistant=assistant, language=language, faq=faq, thumbs=-1)
    for answer in Message.objects.filter(role="assistant"):
        Citation.objects.create(message=answer, n=1, document=page, title="Usual page", url="u")
    hour = timezone.localtime(Message.objects.get(pk=last.pk).created_at).hour
    later = yesterday_at((hour + 2) % 24) - datetime.timedelta(days=1)
    for _ in range(LEAST):
        other = asked_then(1, assistant=assistant, visitor=agreed(later))
        Message.objects.filter(conversation=other.conversation).update(created_at=later)
    count_changed()
    german, whole = figures(analyst, language="de"), figures(analyst)
    assert german is not None
    assert whole is not None
    assert german["now"]["questions"] == LEAST
    assert german["faqs"] == german["documents"] == []
    assert german["spread"]["hours"][hour] is german["spread"]["reasons"]["wrong"] is None
    assert whole["spread"]["hours"][hour] == whole["spread"]["reasons"]["wrong"] == LEAST + 1
    assert [row["answers"] for row in whole["faqs"]] == [row["answers"] for row in whole["documents"]] == [LEAST + 1]


def test_a_narrowed_view_tells_of_no_day_that_another_shows_few_more_of(analyst: User) -> None:
    """On the first day one person asked in English, on the second and third enough did."""
    assistant = own_assistant(analyst)
    for days_ago, in_english in ((4, 1), (3, LEAST), (2, 2 * LEAST)):
        asked(visitors=2 * LEAST, days_ago=days_ago, assistant=assistant, language="de")
        asked(visitors=in_english, days_ago=days_ago, assistant=assistant)
    count_changed()
    begins = (timezone.localdate() - datetime.timedelta(days=4)).isoformat()
    told = [figures(analyst, **{"from": begins, **chosen}) for chosen in ({}, {"language": "de"}, {"language": "en"})]
    questions = [[step["totals"] and step["totals"]["questions"] for step in each["steps"]] for each in told if each]
    assert questions == [[11, 15, 20], [None, None, 10], [None, None, 10]]


# --- every other door ---


def test_no_page_action_or_operation_tells_who_asked(analyst: User) -> None:
    world = make_world("Faculty of Arts", analyst, mark="Arts")
    analyst.groups.add(world.team)
    Message.objects.filter(role="user").update(text=PERSONAL)
    Message.objects.filter(role="assistant").update(rewritten=PERSONAL)
    Feedback.objects.update(comment=PERSONAL)
    client, program, told, opened = sign_in(analyst), Program(analyst), [], 0
    for door in doors():
        reply = knock(client, door, door.address(world), world)
        opened += reply.status_code == 200
        told += [f"{door.title}: {word}" for word in TELLING if word in ("" if reply.streaming else reply_text(reply))]
    for name, operation in OPERATIONS.items():
        with transaction.atomic():
            body = BODIES[name](world.api) if operation.method in {"post", "put", "patch"} else None
            reply = program.call(operation.method, operation.address(world.api), body)
            said = reply_text(reply)
            transaction.set_rollback(True)
        opened += reply.status_code == 200
        told += [f"{name}: {word}" for word in TELLING if word in said]
    assert opened > 20
    assert told == []
