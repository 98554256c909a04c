"""What happened on the days of the dashboard: told from what is recorded, and to whom it may be."""

import datetime
import json

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse
from django.utils import timezone

from analytics.counts.refresh import count_changed
from analytics.dashboard.annotations import annotations
from analytics.dashboard.visibility import View
from analytics.models import TimelineDate
from analytics.periods import Period, Step
from chat.models import Assistant, RetrievalProfile
from faqs.models import FAQ, FAQVersion
from knowledge.models import CrawlRun, Document, Source
from knowledge.models.document_states import FormerState
from knowledge.models.sources import SourcePage
from tests.analytics.dashboard.test_comparison import drawn
from tests.analytics.dashboard.test_page import READS, SMALL, TODAY, ask_by, day, visit, words
from tests.factories import AssistantFactory, CollectionFactory, DocumentFactory, FAQFactory, UserFactory

pytestmark = pytest.mark.django_db
JULY = Period(datetime.date(2026, 7, 1), datetime.date(2026, 7, 15))
TENTH = datetime.date(2026, 7, 10)
EVERYTHING = (
    *("knowledge.view_document", "faqs.view_faq", "chat.view_assistant", "chat.view_retrievalprofile"),
    "analytics.view_dashboard",
)


@pytest.fixture(autouse=True)
def _today(monkeypatch):
    monkeypatch.setattr(timezone, "localdate", lambda *_: TODAY)


def told(*permissions, step=Step.DAY, period=JULY, teams=None, assistant=None):
    staff = UserFactory(permissions=list(permissions or EVERYTHING), **({"teams": teams} if teams else {}))
    return annotations(View(period, step, staff, assistant))


def at(row, moment, field="created_at"):
    type(row).objects.filter(pk=row.pk).update(**{field: moment})
    return row


def page(moment, **values):
    return at(DocumentFactory(**values), moment)


def log_change(row, moment, fields):
    return LogEntry.objects.create(
        user=UserFactory(),
        action_time=moment,
        content_type=ContentType.objects.get_for_model(row),
        object_id=str(row.pk),
        object_repr=str(row),
        action_flag=CHANGE,
        change_message=json.dumps([{"changed": {"fields": fields}}]),
    )


def crawl(moment, *, collection=None, name="Library", **counts):
    source = Source.objects.create(
        name=name, collection=collection or CollectionFactory(), start_urls=["https://uni.example/"]
    )
    return CrawlRun.objects.create(source=source, state=CrawlRun.State.FINISHED, finished_at=moment, **counts)


def test_published_pages_of_a_day_are_summed():
    for _number in range(3):
        page(day(7, 10), status="published")
    page(day(7, 10), status="draft")
    page(day(6, 10), status="published")
    assert told() == {TENTH: ["3 pages published"]}


def test_a_page_counts_when_it_is_published_not_when_it_was_drafted():
    draft = page(day(7, 2), status="draft")
    draft.status = Document.Status.PUBLISHED
    draft.save()
    draft.former_states.update(replaced_at=day(7, 10))
    assert told() == {TENTH: ["1 page published"]}
    archived = Document.objects.get(pk=draft.pk)
    archived.status = Document.Status.ARCHIVED
    archived.save()
    archived.former_states.order_by("-pk").update()
    last = archived.former_states.latest("pk")
    at(last, day(7, 12), "replaced_at")
    assert told() == {TENTH: ["1 page published"]}


def test_a_page_that_changed_since_counts_by_what_it_was_at_first():
    for first, then in (("published", "archived"), ("draft", "published"), ("published", "published")):
        row = page(day(7, 10), status="published")
        for number, status in enumerate((first, then)):
            FormerState.objects.create(document=row, status=status, replaced_at=day(8, 1 + number))
    assert told() == {TENTH: ["2 pages published"]}


def test_of_two_states_of_one_moment_the_one_that_was_written_first_counts():
    row = page(day(7, 10), status="archived")
    for status in ("published", "draft"):
        FormerState.objects.create(document=row, status=status, replaced_at=day(8, 1))
    assert told() == {TENTH: ["1 page published"]}


def test_a_page_that_was_withdrawn_and_published_again_counts_both_times():
    row = page(day(7, 2), status="published")
    for status, moment in (("published", day(7, 5)), ("archived", day(7, 10)), ("published", day(7, 12))):
        FormerState.objects.create(document=row, status=status, replaced_at=moment)
    assert told() == {datetime.date(2026, 7, 2): ["1 page published"], TENTH: ["1 page published"]}


def test_crawls_that_changed_something_are_told_and_their_pages_not_twice():
    run = crawl(day(7, 10), new=12, changed=3)
    read = page(day(7, 10), status="published")
    SourcePage.objects.create(source=run.source, url=read.url, document=read)
    crawl(day(7, 11), name="Nothing new", unchanged=9)
    assert told() == {TENTH: ["“Library” read: new: 12, changed: 3, gone: 0"]}
    crawl(day(7, 10), name="Canteen", gone=1)
    assert told() == {TENTH: ["Websites read: new: 12, changed: 3, gone: 1"]}


def test_faqs_count_when_they_become_published():
    faq = FAQFactory(status="published")
    for moment, status, reason in (
        (day(7, 9), "draft", "form"),
        (day(7, 10), "published", "form"),
        (day(7, 11), "published", "check"),
    ):
        FAQVersion.objects.create(faq=faq, made_at=moment, reason=reason, content={"status": status}, fingerprint="x")
    found = FAQFactory()
    FAQVersion.objects.create(
        faq=found, made_at=day(7, 12), reason="found", content={"status": "published"}, fingerprint="x"
    )
    assert FAQ.objects.count() == 2
    assert told() == {TENTH: ["1 FAQ published"]}


@pytest.mark.parametrize("fields", [["Retrieval profile"], ["profile"], ["Abrufprofil", "profile"]])
def test_another_profile_of_an_assistant_is_told_whatever_the_log_calls_it(fields):
    lexi = AssistantFactory(name="Lexi")
    log_change(lexi, day(7, 10), fields)
    log_change(lexi, day(7, 11), ["welcome"])
    assert told() == {TENTH: ["Lexi: another retrieval profile"]}


def test_model_instructions_and_profiles_are_told():
    lexi = AssistantFactory(name="Lexi")
    log_change(lexi, day(7, 10), ["Model", "prompt"])
    log_change(lexi, day(7, 10), ["evidence_needed", "Collections"])
    log_change(RetrievalProfile.objects.create(name="wide"), day(7, 10), ["name"])
    assert told() == {
        TENTH: [
            "Lexi: other instructions",
            "Lexi: another language model",
            "Lexi: more or less evidence needed",
            "Lexi: other collections",
            "Retrieval profile “wide” changed",
        ]
    }


def test_the_form_of_an_assistant_and_the_time_line_agree(client):
    lexi = AssistantFactory(name="Lexi")
    profile = RetrievalProfile.objects.create(name="wide")
    boss = UserFactory(is_superuser=True)
    client.force_login(boss)
    url = reverse("admin:chat_assistant_change", args=[lexi.pk])
    form = client.get(url).context["adminform"].form
    values = {
        name: value
        for name in form.fields
        if (value := form.get_initial_for_field(form.fields[name], name)) not in (None, False)
    }
    values = {
        name: [getattr(each, "pk", each) for each in value] if isinstance(value, list) else value
        for name, value in values.items()
    }
    inlines = {
        f"{each.formset.prefix}-{name}": 0
        for each in client.get(url).context["inline_admin_formsets"]
        for name in ("TOTAL_FORMS", "INITIAL_FORMS")
    }
    saved = client.post(url, {**values, **inlines, "profile": profile.pk, "model": "other-model"})
    assert saved.status_code == 302, saved.context["adminform"].form.errors
    assert Assistant.objects.get(pk=lexi.pk).profile == profile
    today = timezone.localtime().date()
    shown = annotations(View(Period(today, today), Step.DAY, boss))
    assert [text for text in shown[today] if text.startswith("Lexi")] == [
        "Lexi: another retrieval profile",
        "Lexi: another language model",
    ]


def test_by_month_semesters_dates_of_staff_and_changes_of_assistants_are_told():
    TimelineDate.objects.create(day=datetime.date(2026, 4, 13), text="Lectures begin")
    log_change(AssistantFactory(name="Lexi"), day(7, 10), ["profile"])
    page(day(7, 10), status="published")
    year = Period(datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))
    assert told(period=year, step=Step.MONTH) == {
        datetime.date(2026, 4, 1): ["Semester begins", "Lectures begin"],
        datetime.date(2026, 7, 1): ["Lexi: another retrieval profile"],
        datetime.date(2026, 10, 1): ["Semester begins"],
    }


# --- rights ---


def test_only_what_somebody_may_read_is_told_to_them():
    page(day(7, 10), status="published")
    crawl(day(7, 10), new=1)
    faq = FAQFactory()
    FAQVersion.objects.create(
        faq=faq, made_at=day(7, 10), reason="form", content={"status": "published"}, fingerprint="x"
    )
    log_change(AssistantFactory(name="Lexi"), day(7, 10), ["prompt"])
    assert told(READS) == {}
    assert told(READS, "faqs.view_faq") == {TENTH: ["1 FAQ published"]}
    assert told(READS, "chat.view_assistant") == {TENTH: ["Lexi: other instructions"]}
    assert len(told(READS, "knowledge.view_document")[TENTH]) == 2


def test_a_team_learns_of_its_own_alone():
    team = Group.objects.create(name="Law")
    law, medicine = CollectionFactory(), CollectionFactory()
    law.teams.add(team)
    lexi, medi = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    lexi.teams.add(team)
    for collection, own in ((law, 1), (medicine, 2)):
        for _number in range(own):
            page(day(7, 10), status="published", collection=collection)
        crawl(day(7, 10), collection=collection, name=f"Site {own}", new=own)
    for assistant in (lexi, medi):
        log_change(assistant, day(7, 10), ["prompt"])
        TimelineDate.objects.create(day=TENTH, text=f"Day of {assistant}", assistant=assistant)
    expected = [
        "Day of Lexi",
        "1 page published",
        "“Site 1” read: new: 1, changed: 0, gone: 0",
        "Lexi: other instructions",
    ]
    assert told(teams=[team]) == {TENTH: expected}


def test_an_assistants_time_line_tells_of_what_it_answers_from():
    law, medicine = CollectionFactory(), CollectionFactory()
    lexi, everything = AssistantFactory(), AssistantFactory()
    lexi.collections.add(law)
    page(day(7, 10), status="published", collection=law)
    page(day(7, 10), status="published", collection=medicine)
    assert told(assistant=lexi.pk) == {TENTH: ["1 page published"]}
    assert told(assistant=everything.pk) == {TENTH: ["2 pages published"]}


# --- on the page ---


def test_charts_and_tables_tell_it(client):
    ask_by(6, day(7, 10))
    count_changed()
    TimelineDate.objects.create(day=TENTH, text="Lectures begin")
    shown = visit(client, READS, SMALL, **{"from": "2026-07-01", "to": "2026-07-15"})
    marks = drawn(shown, "use")["marks"]
    assert marks[9] == ["Lectures begin"]
    assert [each for each in marks if each] == [["Lectures begin"]]
    assert "What happened" in words(shown)
    assert "<td>Lectures begin</td>" in shown.content.decode()
    assert "Dates of your own" not in words(shown)
    client.logout()
    empty = visit(client, READS, SMALL, **{"from": "2026-07-11", "to": "2026-07-15"})
    assert "What happened" not in words(empty)


def test_who_looks_after_one_assistant_writes_dates_of_that_one_alone(client):
    team = Group.objects.create(name="Law")
    lexi = AssistantFactory(name="Lexi")
    lexi.teams.add(team)
    AssistantFactory(name="Medi")
    rights = [f"analytics.{action}_timelinedate" for action in ("view", "add", "change", "delete")]
    client.force_login(UserFactory(permissions=rights, teams=[team]))
    add = reverse("admin:analytics_timelinedate_add")
    assert "Medi" not in client.get(add).content.decode()
    refused = client.post(add, {"day": "2026-07-10", "text": "Lectures begin"})
    assert refused.context["adminform"].form.errors["assistant"]
    assert client.post(add, {"day": "2026-07-10", "text": "Lectures begin", "assistant": lexi.pk}).status_code == 302
    assert TimelineDate.objects.get().assistant == lexi


def test_it_is_one_query(django_assert_num_queries):
    staff = UserFactory(permissions=list(EVERYTHING))
    staff.has_perm(READS)
    with django_assert_num_queries(1):
        annotations(View(JULY, Step.DAY, staff))
