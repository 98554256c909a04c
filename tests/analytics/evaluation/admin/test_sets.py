"""Evaluation sets and their questions in the admin."""

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from knowledge.models import Collection, Document
from tests.analytics.rows import add_question, finished_run, new_set, url_of
from tests.factories import CollectionFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
SETS = reverse("admin:analytics_evaluationset_changelist")
QUESTIONS = reverse("admin:analytics_evaluationquestion_changelist")
ADD_QUESTION = reverse("admin:analytics_evaluationquestion_add")


# --- sets ---


def test_the_set_of_an_assistants_regression_questions_has_a_name_in_the_readers_language(admin_client: Client) -> None:
    made, german = new_set(), {"accept-language": "de"}
    EvaluationSet.objects.filter(pk=made.pk).update(name="Regression questions: Lindi")
    page = url_of(made)
    assert "Prüffragen: Lindi" in admin_client.get(SETS, headers=german).content.decode()
    form = admin_client.get(page, headers=german).context["adminform"].form
    assert form["name"].value() == "Prüffragen: Lindi"
    left = {"name": "Prüffragen: Lindi", "collections": [each.pk for each in made.collections.all()], "assistant": ""}
    admin_client.post(page, left, headers=german)
    assert "Regression questions: Lindi" in admin_client.get(SETS).content.decode()
    admin_client.post(page, left | {"name": "Unsere Fragen"}, headers=german)
    assert "Unsere Fragen" in admin_client.get(SETS).content.decode()


def test_the_pages_of_a_test_question_name_it_by_its_text_for_those_who_may_read_it(client: Client) -> None:
    question = add_question(new_set(), text="Who knows?")
    deletes = ["analytics.delete_evaluationquestion", "knowledge.whole_university"]
    for permissions, is_named in ((deletes, False), ([*deletes, "analytics.view_evaluationquestion"], True)):
        client.force_login(UserFactory(permissions=permissions))
        assert ("Who knows?" in client.get(url_of(question, "delete")).content.decode()) is is_named
    for page in ("change", "history"):
        assert "Who knows?" in client.get(url_of(question, page)).content.decode()


def test_the_list_tells_counts_and_the_last_mrr_of_each_profile(admin_client: Client) -> None:
    made = new_set(questions=2)
    add_question(made, text="Who?", answerable=False)
    add_question(made, text="Not asked", answerable=True, status="proposed")
    finished_run(made, mrr=0.25)
    finished_run(made, mrr=0.5)
    finished_run(made, profile="bm25", mrr=1.0)
    page = admin_client.get(SETS).content.decode()
    cells = dict(re.findall(r'<td class="field-(\w+)">([^<]+)</td>', page))
    counted = {"questions": "3", "answerable": "2", "unanswerable": "1", "judged": "2"}
    assert {name: cells[name] for name in counted} == counted
    assert re.findall(r">([\w+]+)</a>:\s+(\d\.\d+)", page) == [("bm25", "1.000"), ("default", "0.500")]


@pytest.mark.slow
def test_the_list_and_a_set_s_page_take_as_many_queries_for_many_runs_as_for_few(admin_client: Client) -> None:
    counts = []
    admin_client.get(url_of(new_set()))  # content types are read once a process
    for more in (2, 8):
        for _ in range(more):
            made = new_set(questions=more)
            for _ in range(more):
                finished_run(made)
        found = []
        for url in (SETS, url_of(made), url_of(made.runs.latest("pk")), QUESTIONS, url_of(made, "delete")):
            with CaptureQueriesContext(connection) as queries:
                assert admin_client.get(url).status_code == 200
            found.append(len(queries))
        counts.append(found)
    assert counts[0] == counts[1]


def test_who_may_not_open_runs_sees_no_links_to_them(client: Client) -> None:
    finished_run(new_set(), mrr=0.25)
    client.force_login(UserFactory(permissions=["analytics.view_evaluationset"]))
    page = client.get(SETS).content.decode()
    assert "evaluationrun" not in page
    assert "0.25" not in page


def test_an_empty_list_says_what_a_set_is(admin_client: Client) -> None:
    assert "There is no set of test questions yet." in admin_client.get(SETS).content.decode()


def test_a_set_is_made_on_the_university_s_collections_alone(admin_client: Client) -> None:
    ours, data_set = CollectionFactory(), CollectionFactory(for_evaluation=True)
    url = reverse("admin:analytics_evaluationset_add")
    page = admin_client.post(url, {"name": "Ours", "collections": [data_set.pk]})
    assert "collections" in page.context["adminform"].form.errors
    assert admin_client.post(url, {"name": "Ours", "collections": [ours.pk]}).status_code == 302
    assert EvaluationSet.objects.get().collections.get() == ours


def test_a_loaded_data_set_and_its_questions_are_read_only(admin_client: Client) -> None:
    made = new_set(fingerprint="f" * 32)
    question = made.questions.get()
    for row in (made, question):
        page = admin_client.get(url_of(row)).content.decode()
        assert 'name="_save"' not in page
        assert admin_client.post(url_of(row), {"name": "Mine", "text": "Mine?"}).status_code == 403
    assert admin_client.post(url_of(question, "delete"), {"post": "yes"}).status_code == 403
    admin_client.post(QUESTIONS, {"action": "reject", "_selected_action": [question.pk]})
    question.refresh_from_db()
    assert question.status == "accepted"


def test_a_deleted_data_set_takes_its_collection_along_and_an_own_set_does_not(admin_client: Client) -> None:
    loaded, own = new_set(fingerprint="f" * 32), new_set()
    loaded.collections.update(for_evaluation=True)
    kept = own.collections.get()
    finished_run(own)
    page = admin_client.get(url_of(own, "delete")).content.decode()
    assert "Test questions: 1" in page
    for made in (loaded, own):
        admin_client.post(url_of(made, "delete"), {"post": "yes"})
    assert not EvaluationSet.objects.exists()
    assert Collection.objects.get() == kept
    assert Document.objects.get().collection == kept


def chart_data(page: str) -> dict[str, Any]:
    """Return what the browser draws, by the chart's name."""
    found = re.findall(r'<script id="chart-(.*?)-data" type="application/json">(.*?)</script>', page)
    return {name: json.loads(data) for name, data in found}


def test_a_set_s_page_has_a_chart_for_each_measure_with_a_sentence_and_a_table(admin_client: Client) -> None:
    made = new_set()
    for mrr in (0.25, 0.5):
        finished_run(made, mrr=mrr)
    finished_run(made, profile="bm25", mrr=1.0)
    EvaluationRun.objects.create(evaluation_set=made, profile="dense", state="failed")
    page = admin_client.get(url_of(made)).content.decode()
    charts = chart_data(page)
    assert list(charts) == ["mrr", "recall-5", "ndcg-10", "auroc"]
    assert charts["mrr"]["series"] == [
        {"label": "bm25", "values": [None, None, 1.0]},
        {"label": "default", "values": [0.25, 0.5, None]},
    ]
    assert "Each profile’s newest run: bm25: 1.000; default: 0.500." in page
    figure = re.search(r'<figure[^>]*data-chart="chart-mrr-data".*?</figure>', page, re.S)
    assert figure
    assert re.findall(r"<td>([\d.]+)</td>", figure[0]) == ["0.250", "0.500", "1.000"]
    assert re.search(r'src="[^"]*analytics/charts[^"]*js"', page)
    assert "style=" not in re.sub(r"<script.*?</script>", "", page, flags=re.S).partition('class="charts"')[2]
    german = admin_client.get(url_of(made), headers={"Accept-Language": "de"}).content.decode()
    assert chart_data(german) == charts


def test_only_the_newest_thirty_runs_are_drawn(admin_client: Client) -> None:
    made = new_set()
    for _ in range(35):
        finished_run(made)
    page = admin_client.get(url_of(made)).content.decode()
    assert len(chart_data(page)["mrr"]["labels"]) == 30


# --- questions ---


def question_form(evaluation_set: EvaluationSet, *documents: Document, **changes: Any) -> dict[str, Any]:
    values = {
        "evaluation_set": evaluation_set.pk,
        "text": "How much?",
        "answerable": "true",
        "reference": "",
        "status": "accepted",
        "judgments-TOTAL_FORMS": len(documents),
        "judgments-INITIAL_FORMS": 0,
    }
    for number, document in enumerate(documents):
        values |= {f"judgments-{number}-document": document.pk, f"judgments-{number}-grade": 1}
    return values | changes


def test_a_question_is_added_with_its_documents_changed_and_found(admin_client: Client) -> None:
    made = new_set(questions=0)
    document = DocumentFactory(collection=made.collections.get())
    assert admin_client.post(ADD_QUESTION, question_form(made, document)).status_code == 302
    question = made.questions.get()
    assert question.judgments.get().document == document
    judgment = {"judgments-INITIAL_FORMS": 1, "judgments-0-id": question.judgments.get().pk}
    changed = question_form(made, document, text="How much is it?", **judgment, **{"judgments-0-DELETE": "on"})
    assert admin_client.post(url_of(question), changed).status_code == 302
    question.refresh_from_db()
    assert (question.text, question.judgments.count()) == ("How much is it?", 0)
    assert question.text in admin_client.get(QUESTIONS, {"q": "much"}).content.decode()
    assert question.text not in admin_client.get(QUESTIONS, {"judged": "yes"}).content.decode()


@pytest.mark.parametrize(
    ("elsewhere", "changes", "said"),
    [
        (True, {}, "is in none of the collections of"),
        (False, {"answerable": "false"}, "A question with a document that answers it is answerable"),
        (False, {"text": ""}, "This field is required."),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(
    admin_client: Client, elsewhere: bool, changes: dict[str, Any], said: str
) -> None:
    made = new_set(questions=0)
    document = DocumentFactory() if elsewhere else DocumentFactory(collection=made.collections.get())
    page = admin_client.post(ADD_QUESTION, question_form(made, document, **changes))
    assert said in page.content.decode()
    assert not EvaluationQuestion.objects.exists()


def test_no_question_is_added_to_a_loaded_data_set(admin_client: Client) -> None:
    loaded = new_set(fingerprint="f" * 32, questions=0)
    page = admin_client.post(ADD_QUESTION, question_form(loaded))
    assert "evaluation_set" in page.context["adminform"].form.errors


def test_proposed_questions_are_accepted_and_rejected(admin_client: Client) -> None:
    made = new_set(questions=0)
    good, bad = (add_question(made, text=text, status="proposed") for text in ("Good?", "Bad?"))
    admin_client.post(QUESTIONS, {"action": "accept", "_selected_action": [good.pk]})
    admin_client.post(QUESTIONS, {"action": "reject", "_selected_action": [bad.pk]})
    assert dict(made.questions.values_list("text", "status")) == {"Good?": "accepted", "Bad?": "rejected"}
