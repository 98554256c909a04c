"""Conversations, gaps, reviews and evaluations over the staff API."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone

from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from chat.models import Conversation, Message
from faqs.models import FAQ
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    CitationFactory,
    DocumentFactory,
    FeedbackFactory,
    QuestionFactory,
    UserFactory,
)
from tests.staff.api import Program, create_gap, create_member, create_review, row_version, rows_of_team

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_counted_or_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr("core.tasks._queue", Mock())


def create_program(*permissions: str) -> Program:
    return Program(UserFactory(permissions=permissions))


def answered(**values: Any) -> Message:
    answer: Message = AnswerFactory(question=QuestionFactory(text="How much?"), finished_at=timezone.now(), **values)
    return answer


# --- conversations ---


def test_a_conversation_is_read_with_what_each_answer_was_made_from() -> None:
    row = {
        "passage": 1,
        "document": 2,
        "title": "Fees",
        "heading": "",
        "page": None,
        "rank": 1,
        "score": 0.5,
        "origins": {"dense": 1},
        "given": True,
    }
    answer = answered(retrieved=[row], evidence=0.7, rewritten="How much is the fee?")
    CitationFactory(message=answer)
    FeedbackFactory(message=answer, value=-1, reasons=["wrong"], comment="No.")
    body = create_program("chat.view_conversation").get(f"/conversations/{answer.conversation_id}/").json()
    question, reply = body["messages"]
    assert (question["role"], question["text"]) == ("user", "How much?")
    assert reply["retrieved"] == [row]
    assert reply["citations"][0]["quote"] == "You do it like this."
    assert reply["feedback"]["comment"] == "No."
    assert question["feedback"] is None
    assert "visitor" not in body


def test_nothing_of_a_conversation_is_written() -> None:
    answer = answered()
    program = Program(UserFactory(is_superuser=True))
    for method in ("post", "put", "patch", "delete"):
        address = f"/conversations/{answer.conversation_id}/"
        assert program.call(method, address, {"title": "Mine"}).status_code == 405
    assert Conversation.objects.exists()


def test_conversations_are_filtered() -> None:
    assistant = AssistantFactory()
    abstained = answered(status="abstained").conversation
    Conversation.objects.filter(pk=abstained.pk).update(assistant=assistant, stars=2)
    down = FeedbackFactory(message=answered(), value=-1).message.conversation
    flagged = answered(flags=["override"]).conversation
    program = create_program("chat.view_conversation")
    for query, conversations in {
        "answer=abstained": {abstained},
        f"assistant={assistant.slug}": {abstained},
        "stars=2": {abstained},
        "feedback=down": {down},
        "feedback=up": set(),
        "feedback=none": {abstained, flagged},
        "is_flagged=true": {flagged},
        "is_flagged=false": {abstained, down},
    }.items():
        rows = program.get(f"/conversations/?{query}").json()["results"]
        assert {row["id"] for row in rows} == {str(row.pk) for row in conversations}, query
    assert program.get("/conversations/------------------------------------/").status_code == 404


# --- gaps ---


def test_a_gap_is_renamed_taken_on_and_made_a_draft_of() -> None:
    gap = create_gap(AssistantFactory(), "Where do I park?", "Is there a car park?")
    document = DocumentFactory()
    program = create_program("analytics.view_gap", "analytics.change_gap", "faqs.add_faq")
    reply = program.patch(f"/gaps/{gap.pk}/", {"name": " Car  parks ", "state": "in_work"})
    assert (reply.json()["name"], reply.json()["state"]) == ("Car parks", "in_work")
    asked = program.get(f"/gaps/{gap.pk}/questions/").json()["results"]
    assert {row["text"] for row in asked} == {"Where do I park?", "Is there a car park?"}
    body = {"question": "Where is parking?", "phrasings": [row["id"] for row in asked], "documents": [document.pk]}
    made = program.post(f"/gaps/{gap.pk}/draft/", body)
    assert made.status_code == 201
    faq = FAQ.objects.get(pk=made.json()["faq"])
    assert faq.collection == document.collection
    assert faq.phrasings.count() == 2
    assert program.get(f"/gaps/{gap.pk}/").json()["faq"] == faq.pk


def test_a_gap_that_went_into_another_is_not_found() -> None:
    gap, other = create_gap(AssistantFactory()), create_gap(AssistantFactory())
    gap.merged_into = other
    gap.save()
    program = create_program("analytics.view_gap")
    assert program.get(f"/gaps/{gap.pk}/").status_code == 404
    assert [row["id"] for row in program.get("/gaps/").json()["results"]] == [other.pk]


def test_gaps_are_filtered() -> None:
    one, other = create_gap(AssistantFactory()), create_gap(AssistantFactory())
    other.state, other.answered_since, other.name = "solved", timezone.now(), "Library"
    other.save()
    program = create_program("analytics.view_gap")
    for query, gaps in {
        "state=open&state=in_work": {one},
        "is_answered=true": {other},
        "is_answered=false": {one},
        "search=librar": {other},
        f"assistant={one.assistant.slug}": {one},
    }.items():
        rows = program.get(f"/gaps/?{query}").json()["results"]
        assert {row["id"] for row in rows} == {gap.pk for gap in gaps}, query


# --- reviews ---

REVIEWER = ("analytics.view_review", "analytics.change_review")


def test_a_review_is_read_judged_and_commented_on() -> None:
    review = create_review(answered(status="abstained"))
    user = UserFactory(permissions=REVIEWER)
    program = Program(user)
    seen = program.get(f"/reviews/{review.pk}/").json()
    assert (seen["question"], seen["answer"]["status"]) == ("How much?", "abstained")
    body = {"version": seen["version"], "verdict": "missing_knowledge", "comment": "Ask the library.", "done": True}
    judged = program.post(f"/reviews/{review.pk}/judge/", body).json()
    assert (judged["state"], judged["verdict"], judged["done_by"]) == ("done", "missing_knowledge", user.username)
    assert judged["version"] > seen["version"]
    commented = program.post(f"/reviews/{review.pk}/comments/", {"text": "Done."})
    assert commented.status_code == 201
    assert [comment["text"] for comment in commented.json()["comments"]] == ["Ask the library.", "Done."]
    assert {comment["by"] for comment in commented.json()["comments"]} == {user.username}


def test_the_second_of_two_reviewers_is_told_what_the_first_one_decided() -> None:
    review = create_review(answered())
    version = row_version(review)
    first, second = create_program(*REVIEWER), create_program(*REVIEWER)
    body = {"version": version, "verdict": "abuse", "done": True}
    assert first.post(f"/reviews/{review.pk}/judge/", body).status_code == 200
    late = {**body, "verdict": "wrong_answer", "comment": "Lost?"}
    reply = second.post(f"/reviews/{review.pk}/judge/", late)
    assert reply.status_code == 409
    assert reply.json()["current"]["verdict"] == "abuse"
    assert reply.json()["changed"] == ["verdict"]
    assert not review.comments.exists()
    assert second.post(f"/reviews/{review.pk}/assign/", {"version": version, "to": None}).status_code == 409


def test_a_review_is_assigned_to_somebody_who_reviews_that_assistant() -> None:
    own, foreign = rows_of_team("Law"), rows_of_team("Arts")
    colleague = create_member(own, *REVIEWER)
    program = Program(create_member(own, *REVIEWER))
    address = f"/reviews/{own.review.pk}/assign/"
    for nobody in ("unknown", create_member(own).username, create_member(foreign, *REVIEWER).username):
        reply = program.post(address, {"version": row_version(own.review), "to": nobody})
        assert reply.json()["errors"][0]["field"] == "to"
    reply = program.post(address, {"version": row_version(own.review), "to": colleague.username})
    assert reply.json()["assigned_to"] == colleague.username
    listed = program.get(f"/reviews/?assigned_to={colleague.username}").json()["results"]
    assert [row["id"] for row in listed] == [own.review.pk]


def test_reviews_are_listed_to_do_first_and_filtered() -> None:
    done, newer, older = (create_review(answered()) for _ in range(3))
    done.state, done.verdict, done.reasons = "done", "abuse", ["injection"]
    done.save()
    type(older).objects.filter(pk=older.pk).update(asked_at=timezone.now() - timedelta(days=3))
    program = create_program("analytics.view_review")
    pages, address = [], "/reviews/?size=1"
    while address:
        page = program.get(address).json()
        pages += [row["id"] for row in page["results"]]
        address = page["next"]
    assert pages == [newer.pk, older.pk, done.pk]
    for query, reviews in {
        "state=done": {done},
        "verdict=none": {newer, older},
        "verdict=abuse": {done},
        "reason=injection": {done},
        "assigned_to=nobody": {done, newer, older},
    }.items():
        rows = program.get(f"/reviews/?{query}").json()["results"]
        assert {row["id"] for row in rows} == {review.pk for review in reviews}, query


# --- evaluations ---


@pytest.fixture
def evaluation_set() -> EvaluationSet:
    row: EvaluationSet = EvaluationSet.objects.create(name="Fees")
    EvaluationQuestion.objects.create(evaluation_set=row, external_id="1", text="How much?", answerable=True)
    return row


def test_a_run_is_started_once_however_often_it_is_asked_for(evaluation_set: EvaluationSet) -> None:
    user: User = UserFactory(permissions=["analytics.add_evaluationrun", "analytics.view_evaluationrun"])
    body = {"evaluation_set": evaluation_set.pk, "profiles": ["default", "default"]}
    first, again = Program(user).post("/evaluation-runs/", body), Program(user).post("/evaluation-runs/", body)
    assert first.status_code == again.status_code == 201
    assert [row["id"] for row in first.json()["runs"]] == [row["id"] for row in again.json()["runs"]]
    run = EvaluationRun.objects.get()
    assert (run.requested_by, run.state) == (user, "queued")
    unknown = Program(user).post("/evaluation-runs/", {**body, "profiles": ["unheard-of"]})
    assert unknown.status_code == 400


def test_a_run_tells_what_it_measured_question_by_question(evaluation_set: EvaluationSet) -> None:
    run = EvaluationRun.objects.create(evaluation_set=evaluation_set, profile="default", results={"mrr": 0.5})
    question = evaluation_set.questions.get()
    run.question_results.create(question=question, ranking=[3, 1], measures={"mrr": 0.5}, evidence=0.4, seconds=0.1)
    program = create_program("analytics.view_evaluationrun", "analytics.view_evaluationset")
    assert program.get(f"/evaluation-runs/{run.pk}/").json()["results"] == {"mrr": 0.5}
    (row,) = program.get(f"/evaluation-runs/{run.pk}/results/").json()["results"]
    assert (row["text"], row["ranking"], row["measures"]) == ("How much?", [3, 1], {"mrr": 0.5})
    assert program.get(f"/evaluation-sets/{evaluation_set.pk}/").json()["question_count"] == 1
