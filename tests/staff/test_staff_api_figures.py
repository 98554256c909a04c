"""The dashboard's figures by the staff API: what the page shows, of whose rows, and what is refused."""

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.utils import timezone

from analytics.counts.refresh import count_changed
from chat.models import Conversation, Feedback
from tests.analytics.counts.test_daily import asks
from tests.analytics.dashboard.test_page import ask_by
from tests.analytics.gaps.rows import new_gap
from tests.factories import AssistantFactory, DocumentFactory, FAQFactory, SiteFactory, UserFactory
from tests.staff.api import Program

pytestmark = pytest.mark.django_db
TODAY = datetime.date(2026, 7, 15)
READS, SMALL, GAPS = "analytics.view_dashboard", "analytics.see_small_groups", "analytics.view_gap"
JULY = "?from=2026-07-01&to=2026-07-15"


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "localdate", lambda *_: TODAY)


def day(month: int, number: int) -> datetime.datetime:
    return datetime.datetime(2026, month, number, 12, tzinfo=datetime.UTC)


def told(address: str = JULY, *permissions: str, **user: Any) -> dict[str, Any]:
    reply = Program(UserFactory(permissions=[READS, *permissions], **user)).get(f"/figures/{address}")
    assert reply.status_code == 200, reply.content
    shown: dict[str, Any] = reply.json()
    return shown


def fields_refused(address: str, **user: Any) -> set[str]:
    reply = Program(UserFactory(permissions=[READS], **user)).get(f"/figures/{address}")
    assert reply.status_code == 400
    assert reply["Content-Type"] == "application/problem+json"
    return {error["field"] for error in reply.json()["errors"]}


def test_a_period_is_told_step_by_step_and_beside_the_one_before() -> None:
    assistant, site = AssistantFactory(name="Lexi"), SiteFactory(name="Library")
    document, faq = DocumentFactory(title="Fees page"), FAQFactory(question="What are the fees?")
    ask_by(3, day(7, 10), assistant=assistant, site=site, document=document, faq=faq)
    ask_by(1, day(7, 11), assistant=assistant, status="abstained")
    ask_by(2, day(6, 25), assistant=assistant, document=document)
    never = DocumentFactory(title="Parking")
    count_changed()
    shown = told(JULY, SMALL)
    assert shown["period"] == {"first": "2026-07-01", "last": "2026-07-15"}
    assert shown["before"] == {"first": "2026-06-16", "last": "2026-06-30"}
    assert (shown["step"], shown["smallest_group"]) == ("day", 1)
    found = shown["figures"]
    assert (found["now"]["questions"], found["before"]["questions"]) == (4, 2)
    assert (found["now"]["newcomers"], found["before"]["newcomers"]) == (4, 2)
    assert found["now"]["abstained_share"] == 0.25
    assert len(found["steps"]) == 15
    assert [step["totals"]["questions"] for step in found["steps"] if step["start"] == "2026-07-10"] == [3]
    assert sum(found["spread"]["hours"]) == 4
    assert len(found["spread"]["first_token"]) == 2
    ranked = {"id": document.pk, "name": "Fees page", "answers": 3, "answers_before": 2}
    assert found["documents"] == [ranked]
    assert [(row["id"], row["answers"], row["thumbs_up"]) for row in found["faqs"]] == [(faq.pk, 3, 0)]
    assert never.pk in {row["id"] for row in found["never_cited"]["documents"]}
    lexi = {"key": str(assistant.pk), "name": "Lexi", "questions": 4, "questions_before": 2}
    assert found["parts"]["assistant"] == [lexi]
    assert {(row["key"], row["questions"]) for row in found["parts"]["site"]} == {(str(site.pk), 3), ("", 1)}


def test_without_days_it_is_the_last_thirty() -> None:
    assert told("")["period"] == {"first": "2026-06-16", "last": "2026-07-15"}


def test_what_is_still_to_come_is_cut_off() -> None:
    assert told("?from=2026-07-01&to=2026-12-31&step=week")["period"]["last"] == "2026-07-15"


def test_it_is_narrowed_to_one_assistant_site_and_language() -> None:
    site = SiteFactory()
    ask_by(2, day(7, 10), assistant=site.assistant, site=site, language="de")
    ask_by(3, day(7, 10), language="en")
    count_changed()
    for narrow in (f"&assistant={site.assistant_id}", f"&site={site.pk}", "&language=de"):
        assert told(JULY + narrow, SMALL)["figures"]["now"]["questions"] == 2


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("?from=1999-12-31&to=2026-07-01", "from"),
        ("?from=2010-01-01&to=2026-07-01", "from"),
        ("?from=2026-08-01&to=2026-08-02", "from"),
        ("?from=yesterday&to=2026-07-01", "from"),
        ("?to=2026-07-01", "from"),
        ("?from=2026-07-01", "to"),
        ("?from=2026-07-02&to=2026-07-01", "to"),
        ("?from=2024-07-01&to=2026-07-01&step=day", "step"),
        (f"{JULY}&step=hour", "step"),
        (f"{JULY}&assistant=0", "assistant"),
        (f"{JULY}&site=main", "site"),
        (f"{JULY}&language=fr", "language"),
        (f"{JULY}&language=", "language"),
        (f"{JULY}&range=all", "range"),
        ("?cursor=1", "cursor"),
    ],
)
def test_what_cannot_be_shown_is_refused_by_its_field(address: str, field: str) -> None:
    assert fields_refused(address) == {field}


def test_a_site_of_another_assistant_is_refused() -> None:
    site = SiteFactory()
    assert fields_refused(f"{JULY}&assistant={AssistantFactory().pk}&site={site.pk}") == {"site"}


def test_a_team_is_told_of_its_own_assistants_alone() -> None:
    team = Group.objects.create(name="Faculty of Law")
    own, others = AssistantFactory(), AssistantFactory(name="Medi")
    own.teams.add(team)
    ask_by(2, day(7, 10), assistant=own)
    ask_by(5, day(7, 10), assistant=others, site=SiteFactory(assistant=others, name="Clinic"))
    new_gap("Of others", assistant=others)
    count_changed()
    shown = told(JULY, SMALL, GAPS, teams=[team])
    assert shown["figures"]["now"]["questions"] == 2
    assert not {"Medi", "Clinic", "Of others"} & set(str(shown).split("'"))
    assert fields_refused(f"{JULY}&assistant={others.pk}", teams=[team]) == {"assistant"}
    assert fields_refused(f"{JULY}&site={others.sites.get().pk}", teams=[team]) == {"site"}


def test_gaps_are_for_who_may_see_them() -> None:
    new_gap("Parking", visitors=9)
    ask_by(5, day(7, 10))
    count_changed()
    assert told(JULY)["figures"]["gaps"] is None
    assert [row["name"] for row in told(JULY, GAPS)["figures"]["gaps"]] == ["Parking"]


def test_too_few_people_as_a_whole_are_told_nothing_of() -> None:
    ask_by(4, day(7, 10), document=DocumentFactory(title="Fees page"))
    count_changed()
    shown = told(JULY)
    assert shown["figures"] is None
    assert shown["smallest_group"] == 5
    assert "Fees page" not in str(shown)


def test_small_groups_are_left_out_of_whatever_is_told() -> None:
    often, seldom = DocumentFactory(title="Fees page"), DocumentFactory(title="Rare page")
    ask_by(12, day(7, 10), document=often)
    ask_by(2, day(7, 12), document=seldom, language="de")
    ask_by(2, day(6, 25), document=often)
    count_changed()
    found = told(JULY)["figures"]
    assert found["before"] is found["spread_before"] is None
    assert [row["name"] for row in found["documents"]] == ["Fees page"]
    assert found["documents"][0]["answers_before"] is None
    assert found["missing"] is None
    assert told(JULY, SMALL)["figures"]["missing"] == {"faqs": 0, "documents": 0, "gaps": 0}
    assert {step["start"] for step in found["steps"] if step["totals"] is None} >= {"2026-07-12"}
    assert "de" not in {row["key"] for row in found["parts"]["language"]}


def rated(count: int, number: int, value: int = 1, stars: int | None = None, **answer: Any) -> None:
    """Create rated answers to so many visitors of a day of July."""
    for each in ask_by(count, day(7, number), **answer):
        Feedback.objects.create(message=each, value=value)
        if stars:
            Conversation.objects.filter(pk=each.conversation_id).update(stars=stars)


def test_opinions_of_few_are_told_in_no_sum() -> None:
    """Also where who was satisfied are many."""
    rated(6, 10, stars=5)
    rated(4, 11, value=-1)
    count_changed()
    now = told(JULY)["figures"]["now"]
    assert (now["questions"], now["thumbs_up"], now["thumbs_down"], now["liked_share"]) == (10, 6, None, None)
    assert (now["ratings"], now["rating"]) == (6, 5.0)
    now = told(JULY, SMALL)["figures"]["now"]
    assert (now["thumbs_up"], now["thumbs_down"], now["liked_share"]) == (6, 4, 0.6)
    Conversation.objects.filter(pk__in=Conversation.objects.filter(stars=5)[:2].values("pk")).update(stars=None)
    count_changed()
    now = told(JULY)["figures"]["now"]
    assert now["ratings"] is now["stars"] is now["rating"] is None


def test_opinions_of_few_on_one_day_do_not_follow_from_those_of_the_others() -> None:
    for number, up, down in ((8, 7, 0), (9, 5, 0), (10, 6, 1)):
        rated(up, number)
        rated(down, number, value=-1)
    rated(5, 11, value=-1)
    rated(1, 11)
    count_changed()
    found = told(JULY)["figures"]
    steps = {int(step["start"][-2:]): step["totals"] for step in found["steps"] if step["totals"]}
    assert (found["now"]["thumbs_up"], found["now"]["thumbs_down"]) == (19, 6)
    assert {number: steps[number]["thumbs_up"] for number in (8, 9, 10, 11)} == {8: 7, 9: None, 10: 6, 11: None}
    assert {number: steps[number]["thumbs_down"] for number in (8, 9, 10, 11)} == {8: 0, 9: 0, 10: None, 11: None}


def test_opinions_in_one_language_do_not_tell_of_few_in_the_other() -> None:
    rated(6, 10, language="de")
    rated(1, 10, language="en")
    ask_by(6, day(7, 10), language="en")
    count_changed()
    assert told(JULY)["figures"]["now"]["thumbs_up"] == 7
    for language in ("de", "en"):
        now = told(f"{JULY}&language={language}")["figures"]["now"]
        assert (now["thumbs_up"], now["thumbs_down"]) == (None, 0)
    assert told(f"{JULY}&language=en", SMALL)["figures"]["now"]["thumbs_up"] == 1


def test_lists_do_not_say_that_somebody_is_hidden() -> None:
    """Neither by being short, nor by leaving a document out of those that nobody cites."""
    published = {"status": "published"}
    popular = [DocumentFactory(title=f"Page {number}", **published) for number in range(10)]
    for document in popular:
        ask_by(5, day(7, 10), document=document, faq=FAQFactory())
    eager, untold = DocumentFactory(title="Rare page", **published), DocumentFactory(title="Never", **published)
    (asked,) = ask_by(1, day(7, 10), document=eager, faq=FAQFactory())
    for _ in range(9):
        asks(asked.conversation, day(7, 10), document=eager, faq=asked.faq)
    count_changed()
    found = told(JULY)["figures"]
    assert {row["name"] for row in found["documents"]} == {document.title for document in popular}
    assert len(found["faqs"]) == 10
    assert {eager.pk, untold.pk} <= {row["id"] for row in found["never_cited"]["documents"]}
    assert [row["answers"] for row in told(JULY, SMALL)["figures"]["documents"]][:2] == [10, 5]


def test_gaps_of_few_do_not_take_the_place_of_others() -> None:
    ask_by(5, day(7, 10))
    count_changed()
    for number in range(10):
        new_gap(f"Rare {number}", visitors=2, weight=100)
    new_gap("Parking", visitors=9)
    assert [row["name"] for row in told(JULY, GAPS)["figures"]["gaps"]] == ["Parking"]
