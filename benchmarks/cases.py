"""Times what staff open, and what runs every minute, with a year of 1,000 cases a day behind it.

The pages are asked for over Django's own test client: session, user and rendering included. By somebody who may see all
of them, and by a curator and analyst of one team, whose office has a quarter of the cases. Beside them the same with
1,000 cases in the year, on the same machine in the same run. Pages are indexed, so that a case's page has something to
suggest.
"""

import datetime
import json
import random
import statistics
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.cases.news import close_quiet_cases, raise_late_cases
from analytics.counts.refresh import count_changed
from benchmarks.corpus import Corpus
from benchmarks.measuring import say, table
from benchmarks.usage_data import make_university
from chat.models import Assistant, Case, CaseMessage, Conversation, Office, Visitor
from knowledge.indexing.documents import sync_pending
from knowledge.models import Collection, Document, Passage
from marcelcms.accounts.roles import ANALYST, CURATOR, make_roles

DAYS, MANY_A_DAY, FEW = 365, 1_000, 1_000
REPEATS, BLOCK = 11, 5_000
#: Of the cases of the last days: how many still wait for the office, and how many for the student.
WAIT, REPLIED = 0.3, 0.4
WAIT_DAYS, REPLIED_DAYS = 3, 14
#: Pages, of four passages each.
PAGES = 50
SAID = ("May I bring my bicycle into the hall?", "Wann endet die Frist?", "How do I change my degree?")
#: Django writes the present into these columns.
DATES = """UPDATE chat_case SET opened_at = reply_due - interval '2 days',
state_at = coalesce(first_reply_at, reply_due - interval '2 days')"""
#: What staff were told of each case, as it is once most were answered.
NOTICES = """INSERT INTO analytics_notice (kind, user_id, case_id, created_at, read_at)
SELECT 'new_case', member.id, told.id, told.opened_at, CASE WHEN told.state <> 'open' THEN told.state_at END
FROM chat_case AS told CROSS JOIN auth_user AS member
WHERE (member.is_superuser OR EXISTS (
    SELECT FROM chat_office_teams AS teams JOIN auth_user_groups AS own USING (group_id)
    WHERE teams.office_id = told.office_id AND own.user_id = member.id
)) AND NOT EXISTS (SELECT FROM analytics_notice WHERE case_id = told.id)"""


def measure(*, quick: bool) -> dict[str, Any]:
    assistant = make_university().assistants[0]
    offices = [Office.objects.create(assistant=assistant, name=f"Office {number}") for number in range(1, 5)]
    staff = {
        "who sees all": get_user_model().objects.create_superuser("curator"),
        "one team": _make_member(assistant, offices),
    }
    passages = _index_pages()
    _fill(assistant, offices, FEW)
    few = {who: _time_all(user) for who, user in staff.items()} | {"tasks": _time_tasks()}
    began = time.perf_counter()
    _fill(assistant, offices, DAYS * (MANY_A_DAY // 20 if quick else MANY_A_DAY))
    written = time.perf_counter() - began
    many = {who: _time_all(user) for who, user in staff.items()} | {"tasks": _time_tasks()}
    cases = Case.objects.count()
    say(f"{cases:,} cases over a year, written in {written:.0f} s; beside them {FEW:,}; {passages:,} passages.")
    for who, rows in many.items():
        say(f"\n{who}\n")
        _print(few[who], rows)
    return {"few": few, "many": many, "cases": cases, "passages": passages, "written_s": round(written, 1)}


def _print(few: Mapping[str, Mapping[str, float]], many: Mapping[str, Mapping[str, float]]) -> None:
    rows = [
        (
            name,
            row["queries"],
            *(f"{each['ms']:.0f}" for each in (few[name], row)),
            *(f"{each['database_ms']:.1f} / {each['blocks']:,.0f}" for each in (few[name], row)),
        )
        for name, row in many.items()
    ]
    head = (f"{FEW:,} cases, ms", "all, ms", f"{FEW:,} cases, database ms / blocks", "all, database ms / blocks")
    table(("what", "queries", *head), rows)


def _make_member(assistant: Assistant, offices: list[Office]) -> Any:
    """Return a curator and analyst of the team that answers at the first office; other teams answer at the others."""
    make_roles()
    member = get_user_model().objects.create_user("member", is_staff=True)
    teams = [Group.objects.create(name=f"Team {number}") for number, _office in enumerate(offices, 1)]
    for office, team in zip(offices, teams, strict=True):
        office.teams.set([team])
    assistant.teams.set(teams)
    member.groups.set([*Group.objects.filter(name__in=(CURATOR, ANALYST)), teams[0]])
    return member


def _index_pages() -> int:
    collection = Collection.objects.get(slug="usage")
    corpus = Corpus()
    Document.objects.bulk_create(
        Document(collection=collection, url=page.url, title=page.title, language=page.language, text=page.markdown)
        for page in (corpus.page(number) for number in range(PAGES))
    )
    sync_pending()
    return Passage.objects.count()


def _fill(assistant: Assistant, offices: list[Office], count: int) -> None:
    """Write cases of a year, evenly over its days, each in its own conversation; of two messages if it was answered."""
    now, chance = timezone.now(), random.Random(3)
    visitor = Visitor.objects.create()
    for first in range(0, count, BLOCK):
        moments = [
            now - datetime.timedelta(days=DAYS * (place + 1) / count)
            for place in range(first, min(first + BLOCK, count))
        ]
        conversations = Conversation.objects.bulk_create(
            Conversation(pk=uuid.uuid4(), visitor=visitor, assistant=assistant) for _moment in moments
        )
        cases = Case.objects.bulk_create(
            _case(conversation, assistant, chance.choice(offices), moment, now, chance)
            for conversation, moment in zip(conversations, moments, strict=True)
        )
        CaseMessage.objects.bulk_create(
            CaseMessage(case=case, by=by, text="Yes. Please send the form.")
            for case in cases
            if case.first_reply_at
            for by in (CaseMessage.By.OFFICE, CaseMessage.By.STUDENT)
        )
    Case.objects.filter(pk__in=Case.objects.order_by("pk").values("pk")[:3]).update(question="May I play the trombone?")
    with connection.cursor() as cursor:
        cursor.execute(DATES)
        cursor.execute(NOTICES)
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")  # so that none is written while pages are timed
    count_changed()


def _case(
    conversation: Conversation,
    assistant: Assistant,
    office: Office,
    at: datetime.datetime,
    now: datetime.datetime,
    chance: random.Random,
) -> Case:
    days, drawn = (now - at).days, chance.random()
    state = Case.State.CLOSED
    if days < WAIT_DAYS and drawn < WAIT:
        state = Case.State.OPEN
    elif days < REPLIED_DAYS and drawn < WAIT + REPLIED:
        state = Case.State.REPLIED
    replied = at + datetime.timedelta(hours=chance.uniform(1, 40))
    is_answered = state != Case.State.OPEN
    return Case(
        conversation=conversation,
        assistant=assistant,
        office=office,
        question=chance.choice(SAID),
        language="en",
        reason=Case.Reason.ABSTAINED,
        state=state,
        client_id=uuid.uuid4(),
        reply_due=at + datetime.timedelta(days=2),
        first_reply_at=replied if is_answered else None,
        closed_at=replied + datetime.timedelta(days=1) if state == Case.State.CLOSED else None,
        helped=chance.choice((True, False, None)) if is_answered else None,
    )


def _time_all(staff: Any) -> dict[str, dict[str, float]]:
    client = Client(SERVER_NAME="localhost")
    client.force_login(staff)
    # What is late is raised, and what is quiet closed, before anything is timed.
    while raise_late_cases() or close_quiet_cases():
        pass
    newest = Case.objects.visible_to(staff).order_by("-pk").values_list("pk", flat=True)[0]
    to_do, year = reverse("to-do"), f"{timezone.localdate() - datetime.timedelta(days=364):%Y-%m-%d}"
    pages = {
        "home": reverse("admin:index"),
        "Inbox": to_do,
        "Inbox, late cases": f"{to_do}?kind=cases&due=late",
        "Inbox, cases done": f"{to_do}?kind=cases&state=done",
        "Inbox, cases with a common word": f"{to_do}?kind=cases&state=done&q=bicycle",
        "Inbox, cases with a rare word": f"{to_do}?kind=cases&state=done&q=trombone",
        "Inbox, cases with a word that none has": f"{to_do}?kind=cases&state=done&q=saxophone",
        "one case": reverse("admin:chat_case_change", args=[newest]),
        "dashboard, a year": f"{reverse('dashboard')}?from={year}&to={timezone.localdate():%Y-%m-%d}",
    }
    return {name: _time(lambda address=address: _open(client, address)) for name, address in pages.items()}


def _time_tasks() -> dict[str, dict[str, float]]:
    tasks: Mapping[str, Callable[[], object]] = {
        "late cases, every minute": raise_late_cases,
        "quiet cases, every hour": close_quiet_cases,
    }
    return {name: _time(task) for name, task in tasks.items()}


def _open(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)


def _time(act: Callable[[], object]) -> dict[str, float]:
    act()
    with CaptureQueriesContext(connection) as queries:
        act()
    milliseconds, blocks = _explain([each["sql"] for each in queries.captured_queries])
    count, times = len(queries), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        act()
        times.append((time.perf_counter() - began) * 1_000)
    return {"ms": round(statistics.median(times), 2), "queries": count, "database_ms": milliseconds, "blocks": blocks}


def _explain(statements: list[str]) -> tuple[float, int]:
    """Return for how long the database works on the statements that read, and how many blocks it looks at.

    Both are nearly the same on a busy machine; of the time the least of three counts.
    """
    milliseconds, blocks = 0.0, 0
    for statement in statements:
        if not statement.startswith(("SELECT", "(SELECT", "WITH")):
            continue
        plans = []
        for _time in range(3):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}")
                said = cursor.fetchone()[0]
            plans.append((said if isinstance(said, list) else json.loads(said))[0])
        milliseconds += min(plan["Execution Time"] for plan in plans)
        blocks += plans[-1]["Plan"]["Shared Hit Blocks"] + plans[-1]["Plan"]["Shared Read Blocks"]
    return round(milliseconds, 2), blocks
