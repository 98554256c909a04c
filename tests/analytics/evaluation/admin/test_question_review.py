"""Staff go through proposed questions: accept, reject, put right; runs ask the accepted ones only."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from tests.factories import CollectionFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db

START = "admin:analytics_evaluationquestion_review"


@pytest.fixture
def own() -> EvaluationSet:
    own = EvaluationSet.objects.create(name="Ours")
    own.collections.add(CollectionFactory())
    return own


@pytest.fixture
def reviewer(client: Client) -> Client:
    client.force_login(UserFactory(permissions=["analytics.change_evaluationquestion"]))
    return client


def proposed(own: EvaluationSet, text: str, **values: Any) -> EvaluationQuestion:
    question: EvaluationQuestion = own.questions.create(
        external_id=text, text=text, reference="Four weeks.", answerable=True, **{"status": "proposed", **values}
    )
    return question


def one(question: EvaluationQuestion) -> str:
    return reverse(f"{START}_one", args=[question.pk])


def start(own: EvaluationSet, after: EvaluationQuestion | None = None) -> str:
    return f"{reverse(START)}?set={own.pk}" + (f"&after={after.pk}" if after else "")


def decide(client: Client, question: EvaluationQuestion, decision: str, **edits: str) -> Any:
    data = {"text": question.text, "reference": question.reference, "decision": decision, **edits}
    return client.post(one(question), data)


def test_a_question_is_read_beside_what_answers_it(reviewer: Client, own: EvaluationSet) -> None:
    question = proposed(own, "For how long are books lent?", labels={"made_by": "a model"})
    document = DocumentFactory(title="Lending", collection=own.collections.get())
    hostile = "Four weeks. <script>alert(1)</script>"
    Judgment.objects.create(
        question=question,
        document=document,
        quote=hostile,
        units=[{"passage": "h", "granularity": "sentence", "text": "Books are lent for four weeks."}],
    )
    page = reviewer.get(one(question)).content.decode()
    assert "For how long are books lent?" in page
    assert "Written by the language model a model" in page
    assert "These sentences of it answer the question:" in page
    assert "Books are lent for four weeks." in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_accepting_opens_the_next_one(reviewer: Client, own: EvaluationSet) -> None:
    first, second, third = (proposed(own, f"What {n}?") for n in range(3))
    other = EvaluationSet.objects.create(name="Others")
    elsewhere = proposed(other, "Elsewhere?")
    assert reviewer.get(start(own)).headers["Location"] == one(first)
    assert decide(reviewer, first, "accepted").headers["Location"] == start(own, first)
    assert reviewer.get(start(own, first)).headers["Location"] == one(second)
    decide(reviewer, second, "rejected")
    assert reviewer.get(start(own, third)).headers["Location"] == one(third)
    decide(reviewer, third, "accepted")
    assert reviewer.get(start(own, third)).headers["Location"].endswith(f"?evaluation_set__id__exact={own.pk}")
    assert list(own.questions.order_by("pk").values_list("status", flat=True)) == ["accepted", "rejected", "accepted"]
    elsewhere.refresh_from_db()
    assert elsewhere.status == "proposed"


def test_a_question_can_be_put_right_before_it_is_accepted(reviewer: Client, own: EvaluationSet) -> None:
    question = proposed(own, "How long book?")
    decide(reviewer, question, "", text="How long may I keep\na book?")
    question.refresh_from_db()
    assert (question.text, question.status) == ("How long may I keep a book?", "proposed")
    decide(reviewer, question, "accepted", reference=" A month. ")
    question.refresh_from_db()
    assert (question.reference, question.status) == ("A month.", "accepted")
    decide(reviewer, question, "rejected", text="Never mind?")
    question.refresh_from_db()
    assert (question.text, question.status) == ("How long may I keep a book?", "rejected")
    history = reviewer.get(reverse("admin:analytics_evaluationquestion_history", args=[question.pk]))
    assert history.content.decode().count("Changed") == 3


def test_a_question_without_a_text_is_not_accepted(reviewer: Client, own: EvaluationSet) -> None:
    question = proposed(own, "What?")
    answer = decide(reviewer, question, "accepted", text="  ")
    assert "This field is required." in answer.content.decode()
    question.refresh_from_db()
    assert (question.text, question.status) == ("What?", "proposed")


def test_who_may_only_look_decides_nothing(client: Client, own: EvaluationSet) -> None:
    question = proposed(own, "What?")
    client.force_login(UserFactory(permissions=["analytics.view_evaluationquestion"]))
    page = client.get(one(question)).content.decode()
    assert "Four weeks." in page
    assert "Accept" not in page
    assert decide(client, question, "accepted").status_code == 403
    client.force_login(UserFactory())
    assert client.get(one(question)).status_code == 403
    assert client.get(start(own)).status_code == 403
    question.refresh_from_db()
    assert question.status == "proposed"


def test_a_loaded_data_set_cannot_be_reviewed(reviewer: Client, own: EvaluationSet) -> None:
    question = proposed(own, "What?", status="accepted")
    EvaluationSet.objects.update(fingerprint="of files")
    assert decide(reviewer, question, "rejected").status_code == 403
    question.refresh_from_db()
    assert question.status == "accepted"


def test_several_are_decided_at_once_and_the_list_leads_to_review(reviewer: Client, own: EvaluationSet) -> None:
    questions = [proposed(own, f"What {n}?") for n in range(3)]
    listed = reverse("admin:analytics_evaluationquestion_changelist")
    page = reviewer.get(listed, {"evaluation_set__id__exact": own.pk, "status__exact": "proposed"})
    assert f'href="{start(own)}"' in page.content.decode()
    reviewer.post(listed, {"action": "accept", "_selected_action": [question.pk for question in questions[:2]]})
    reviewer.post(listed, {"action": "reject", "_selected_action": [questions[2].pk]})
    assert list(own.questions.order_by("pk").values_list("status", flat=True)) == ["accepted", "accepted", "rejected"]
