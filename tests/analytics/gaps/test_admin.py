"""Gaps in the admin: the list, the page of one, what staff do, and who may."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from analytics.models import Gap, GapQuestion, GapRun
from analytics.tasks import find_gaps
from core.admin.back import with_back
from faqs.indexing import sync_faq
from faqs.models import FAQ
from faqs.tasks import index_faq
from knowledge.models import Document
from tests.analytics.gaps.rows import PARKING, ask_in_vain, look, new_gap
from tests.analytics.rows import url_of
from tests.conftest import load_pages
from tests.factories import DocumentFactory, FAQFactory, FeedbackFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = reverse("admin:analytics_gap_changelist")
SCRIPT = "<script>alert(1)</script>"
OFFICE = {
    "url": "https://www.uni.example/office",
    "title": "Facility office",
    "text": "# Facility office\n\nThe facility office is open on Mondays. It gives out keys and permits.",
}


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(find_gaps, "delay", delay)
    monkeypatch.setattr(index_faq, "delay", Mock())
    return delay


def signed_in(client: Client, *permissions: str) -> Client:
    client.force_login(UserFactory(permissions=permissions))
    return client


@pytest.fixture
def parking() -> Gap:
    """Make a gap as a run finds it, with documents indexed."""
    load_pages([OFFICE])
    for text in PARKING:
        ask_in_vain(text, days_ago=-0.01)
    look()
    return Gap.objects.get()


# --- the list ---


def test_the_list_says_what_matters_most_first(admin_client: Client) -> None:
    faq = FAQFactory(question="Where do I park?")
    new_gap("Bicycles", weight=0.4, this_week=1, week_before=3)
    new_gap("Parking", weight=7.2, this_week=4, answered_since=timezone.now(), answered_by_faq=faq)
    page = admin_client.get(LIST).content.decode()
    assert page.index("Parking</a>") < page.index("Bicycles</a>")
    for said in ("7.2", "rising", "falling", "4 in 7 days, 0 before", "Where do I park?"):
        assert said in page, said


def test_the_list_shows_what_is_to_do_and_the_rest_on_demand(admin_client: Client) -> None:
    for state in Gap.State.values:
        new_gap(f"A gap {state}", state=state)
    page = admin_client.get(LIST).content.decode()
    assert ("A gap open" in page, "A gap in_work" in page) == (True, True)
    assert ("A gap solved" in page, "A gap dismissed" in page) == (False, False)
    assert "A gap solved" in admin_client.get(LIST, {"state": "solved"}).content.decode()
    assert admin_client.get(LIST, {"state": "all"}).content.decode().count("A gap ") >= 4


def test_the_list_asks_the_database_as_often_for_many_gaps_as_for_one(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    counts = []
    for rounds in (1, 12):
        for number in range(rounds):
            faq, document = FAQFactory(), DocumentFactory()
            gap = new_gap(f"{rounds}.{number}", answered_since=timezone.now(), answered_by_faq=faq, faq=faq)
            Gap.objects.filter(pk=gap.pk).update(answered_by_document=document)
        with django_assert_max_num_queries(30) as captured:
            assert admin_client.get(LIST).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_a_list_without_gaps_says_what_that_means(admin_client: Client) -> None:
    to_do = reverse("to-do")
    assert "Not run yet." in admin_client.get(to_do).content.decode()
    assert "every question was answered" not in admin_client.get(LIST).content.decode()
    look()
    assert "Not run yet." not in admin_client.get(to_do).content.decode()
    assert "every question was answered" in admin_client.get(LIST).content.decode()


def test_staff_have_the_gaps_looked_for_again(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        page = admin_client.post(reverse("admin:analytics_gap_look"), follow=True).content.decode()
    queued.assert_called_once_with(GapRun.objects.get().pk)
    assert "The topics are being updated." in page
    assert "Waits for its turn." in page
    assert "Update topics now" not in page
    assert "already" in admin_client.post(reverse("admin:analytics_gap_look"), follow=True).content.decode()
    GapRun.objects.update(state="running", done=64, total=200)
    progress = admin_client.get(reverse("admin:analytics_gap_progress")).json()
    assert progress == {"state": "running", "message": "Step 64 of 200.", "counts": {}, "is_active": True}


@pytest.mark.parametrize(
    ("action", "state"),
    [("take_on", "in_work"), ("solve", "solved"), ("dismiss", "dismissed"), ("open_again", "open")],
)
def test_the_state_of_several_is_changed_at_once(admin_client: Client, action: str, state: str) -> None:
    gaps = [new_gap(str(number), state="solved" if state == "open" else "open") for number in range(2)]
    data = {"action": action, "_selected_action": [gap.pk for gap in gaps]}
    admin_client.post(f"{LIST}?state=all", data)
    assert {gap.state for gap in Gap.objects.all()} == {state}
    assert LogEntry.objects.count() == 2


# --- one gap ---


def test_the_page_says_what_was_asked_and_why_it_failed(admin_client: Client) -> None:
    gap = new_gap(texts=(SCRIPT, "Where may I park?"))
    last = gap.questions.last()
    assert last
    last.message.answer.status, last.message.answer.reason = "complete", ""
    last.message.answer.save()
    FeedbackFactory(message=last.message.answer, value=-1, reasons=["outdated"])
    page = admin_client.get(url_of(gap)).content.decode()
    assert "The pages that were found are too far from the question." in page
    assert "Rated as bad: outdated" in page
    assert SCRIPT not in page
    assert reverse("admin:chat_conversation_change", args=[last.message.conversation_id]) in page


def test_suggestions_are_phrasings_documents_and_close_faqs(admin_client: Client, parking: Gap) -> None:
    faq = FAQFactory(question="Where can I get a parking permit?", documents=[Document.objects.get()])
    FAQ.objects.update(status="published")
    sync_faq(faq.pk)
    page = admin_client.get(url_of(parking)).content.decode()
    for said in (*PARKING, "Facility office", faq.question, "Add these phrasings there instead"):
        assert said.replace("'", "&#x27;") in page, said


def test_suggestions_from_one_question_alone(admin_client: Client, parking: Gap) -> None:
    question = parking.questions.order_by("centrality").first()
    assert question
    page = admin_client.get(url_of(parking), {"only": question.pk}).content.decode()
    assert "Answer it, from one question" in page
    assert f'value="{question.message.text}"' in page
    assert 'name="phrasings"' not in page


def test_a_draft_is_made_of_what_is_ticked(admin_client: Client, parking: Gap) -> None:
    phrasings = list(parking.questions.order_by("-centrality").values_list("pk", flat=True))[1:]
    document = Document.objects.get()
    data = {"question": "Who gives out parking permits?", "phrasings": phrasings, "documents": [document.pk]}
    response = admin_client.post(url_of(parking, "draft"), data)
    faq = FAQ.objects.get()
    assert response["Location"] == with_back(reverse("admin:faqs_faq_change", args=[faq.pk]), url_of(parking))
    assert (faq.question, faq.status) == ("Who gives out parking permits?", "draft")
    assert list(faq.documents.all()) == [document]
    assert faq.phrasings.count() == 2
    parking.refresh_from_db()
    assert (parking.faq, parking.state) == (faq, "in_work")


def test_a_gap_gets_one_faq_and_another_only_when_that_is_retired(admin_client: Client, parking: Gap) -> None:
    data = {"question": "Who gives out parking permits?"}
    admin_client.post(url_of(parking, "draft"), data)
    page = admin_client.post(url_of(parking, "draft"), data, follow=True).content.decode()
    assert "There is an FAQ for this topic already" in page
    assert "Make a draft FAQ" not in page
    FAQ.objects.update(status=FAQ.Status.RETIRED)
    admin_client.post(url_of(parking, "draft"), data)
    assert FAQ.objects.count() == 2


def test_who_may_only_draft_is_not_told_to_publish(client: Client, parking: Gap) -> None:
    client.force_login(UserFactory(permissions=["analytics.change_gap", "faqs.add_faq", "faqs.view_faq"]))
    page = client.post(url_of(parking, "draft"), {"question": "Permits?"}, follow=True).content.decode()
    assert "Somebody who may change FAQs" in page
    assert "before you publish it" not in page


def test_a_draft_without_a_question_is_refused(admin_client: Client) -> None:
    gap = new_gap()
    page = admin_client.post(url_of(gap, "draft"), {"question": " "}, follow=True).content.decode()
    assert "Write the question that the FAQ answers." in page
    assert not FAQ.objects.exists()


def test_phrasings_of_another_gap_and_archived_documents_are_not_taken(admin_client: Client) -> None:
    gap, other = new_gap(), new_gap("Other", texts=("What else?",))
    archived = DocumentFactory(status="archived")
    data = {
        "question": "What?",
        "phrasings": [*other.questions.values_list("pk", flat=True), "x", "9" * 30],
        "documents": [archived.pk, "-1", "9" * 30],
    }
    admin_client.post(url_of(gap, "draft"), data)
    faq = FAQ.objects.get()
    assert (faq.phrasings.count(), faq.documents.count()) == (0, 0)


def test_phrasings_are_added_to_an_faq_that_is_there(admin_client: Client) -> None:
    gap = new_gap(texts=("Where do I park?", "Where may I park?"))
    faq = FAQFactory(question="Parking?", phrasings=["Where may I park?"])
    central, other = gap.questions.order_by("-centrality").values_list("pk", flat=True)
    address = reverse("admin:analytics_gap_phrasings", args=[gap.pk, faq.pk])
    response = admin_client.post(address, {"central": central, "phrasings": [other]})
    assert response["Location"] == with_back(reverse("admin:faqs_faq_change", args=[faq.pk]), url_of(gap))
    assert {phrasing.text for phrasing in faq.phrasings.all()} == {"Where do I park?", "Where may I park?"}
    again = admin_client.post(address, {"central": central}, follow=True).content.decode()
    assert "Tick a phrasing that the FAQ does not have yet." in again


def test_a_name_that_staff_gave_stays(admin_client: Client, parking: Gap) -> None:
    given = {"version": parking.version, "name": "  Parking   permits "}
    admin_client.post(url_of(parking, "rename"), given)
    look()
    parking.refresh_from_db()
    assert (parking.name, parking.named_by) == ("Parking permits", "staff")
    now = {"version": parking.version}
    admin_client.post(url_of(parking, "rename"), {**now, "name": " "})
    page = admin_client.post(url_of(parking, "rename"), {**now, "name": "x" * 201}, follow=True).content.decode()
    assert "at most 200 characters" in page
    parking.refresh_from_db()
    assert parking.name == "Parking permits"


def test_the_state_is_changed_on_the_page(admin_client: Client) -> None:
    gap = new_gap()
    given = {"state": "solved", "version": gap.version}
    assert "is now “solved”" in admin_client.post(url_of(gap, "state"), given, follow=True).content.decode()
    assert admin_client.post(url_of(gap, "state"), {**given, "state": "gone"}).status_code == 404


def test_a_gap_that_went_into_another_leads_there(admin_client: Client) -> None:
    gap = new_gap()
    gone = new_gap("Gone", merged_into=gap)
    assert admin_client.get(url_of(gone))["Location"] == url_of(gap)
    assert "Gone</a>" not in admin_client.get(f"{LIST}?state=all").content.decode()
    assert admin_client.get(reverse("admin:analytics_gap_change", args=["none"])).status_code == 404


def test_a_gap_whose_questions_were_deleted_can_be_read(admin_client: Client) -> None:
    gap = new_gap(texts=())
    assert "Its questions were deleted" in admin_client.get(url_of(gap)).content.decode()


def test_many_questions_come_in_pages(admin_client: Client) -> None:
    gap = new_gap(texts=tuple(f"Where is matter {number}?" for number in range(30)))
    assert "Where is matter 29?" not in admin_client.get(url_of(gap)).content.decode()
    assert "Where is matter 29?" in admin_client.get(url_of(gap), {"p": 2}).content.decode()


# --- who may ---

VIEW, CHANGE, ADD, EDIT = "analytics.view_gap", "analytics.change_gap", "faqs.add_faq", "faqs.change_faq"


@pytest.mark.parametrize(
    ("permissions", "allowed"),
    [
        ((), set()),
        ((VIEW,), {"list", "page", "progress"}),
        ((CHANGE,), {"list", "page", "progress", "look", "rename", "state"}),
        ((VIEW, ADD), {"list", "page", "progress"}),
        ((CHANGE, ADD), {"list", "page", "progress", "look", "rename", "state", "draft"}),
        ((CHANGE, EDIT), {"list", "page", "progress", "look", "rename", "state", "phrasings"}),
    ],
)
def test_who_may_do_what(client: Client, permissions: tuple[str, ...], allowed: set[str]) -> None:
    gap, faq = new_gap(), FAQFactory()
    signed_in(client, *permissions)
    may = {
        "list": client.get(LIST),
        "page": client.get(url_of(gap)),
        "progress": client.get(reverse("admin:analytics_gap_progress")),
        "look": client.post(reverse("admin:analytics_gap_look")),
        "rename": client.post(url_of(gap, "rename"), {"name": "New"}),
        "state": client.post(url_of(gap, "state"), {"state": "solved"}),
        "draft": client.post(url_of(gap, "draft"), {"question": "What?"}),
        "phrasings": client.post(reverse("admin:analytics_gap_phrasings", args=[gap.pk, faq.pk]), {"phrasings": []}),
    }
    assert {name for name, response in may.items() if response.status_code != 403} == allowed


def test_who_may_only_look_sees_no_button(client: Client) -> None:
    gap = new_gap()
    page = signed_in(client, VIEW).get(url_of(gap)).content.decode()
    assert "Rename" not in page
    assert "Make a draft FAQ" not in page
    assert "Read the conversation" not in page


@pytest.mark.parametrize("what", ["look", "rename", "state", "draft"])
def test_what_changes_something_wants_a_post(admin_client: Client, what: str) -> None:
    args = [] if what == "look" else [new_gap().pk]
    assert admin_client.get(reverse(f"admin:analytics_gap_{what}", args=args)).status_code == 405


def test_a_gap_is_neither_written_nor_deleted_by_hand(admin_client: Client) -> None:
    gap = new_gap()
    assert admin_client.post(url_of(gap, "delete"), {"post": "yes"}).status_code == 403
    assert admin_client.get(reverse("admin:analytics_gap_add")).status_code == 403
    assert GapQuestion.objects.count() == 1
