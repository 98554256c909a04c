"""The list “Contradictions”: of two teams each its own, in few queries; a dismissal is taken back and recorded."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from analytics.models import Contradiction, ReviewFeed
from faqs.answers.pages import sync_pages
from faqs.models import AnswerPage, FAQSource, FAQVersion, SimilarPair
from knowledge.models import Document
from tests.factories import CitationFactory, CollectionFactory, DocumentFactory, FAQFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = reverse("contradictions")
MAY = ("knowledge.view_document", "knowledge.change_document", "faqs.view_faq", "faqs.change_faq")


def sign_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def contradiction(one: Document, other: Document, **values: Any) -> Contradiction:
    number = Contradiction.objects.count()
    given = {
        "kind": "figure",
        "first_text": "It costs 5 euros.",
        "second_text": "It costs 6 euros.",
        "score": 1.0,
    } | values
    made: Contradiction = Contradiction.objects.create(
        first_document=one, second_document=other, fingerprint=f"{number}", **given
    )
    return made


@pytest.fixture
def anna() -> Any:
    return UserFactory(username="anna", permissions=MAY)


def shown(client: Client, **filters: str) -> list[Contradiction]:
    return [row.contradiction for row in client.get(LIST, filters).context["rows"]]


def test_both_statements_stand_side_by_side_with_the_differing_words_marked(anna: Any) -> None:
    found = contradiction(DocumentFactory(title="Fees"), DocumentFactory(title="Money"))
    content = sign_in(anna).get(LIST).content.decode()
    assert "It costs <mark>5</mark> euros." in content
    assert "It costs <mark>6</mark> euros." in content
    for pk in (found.first_document_id, found.second_document_id):
        assert reverse("admin:knowledge_document_change", args=[pk]) in content


def test_statements_and_answers_stand_without_the_marks_of_markdown(anna: Any) -> None:
    contradiction(
        DocumentFactory(),
        DocumentFactory(),
        first_heading="Fees › **Semester**",
        first_text="- The fee is **5 euros**, see [the table](https://uni.example/fees).",
        second_text="| Fee | *6 euros* |",
    )
    one, other = FAQFactory(answer_en="It costs **7 euros**."), FAQFactory()
    SimilarPair.objects.create(first=one, second=other, similarity=0.9)
    shown = [side for row in sign_in(anna).get(LIST).context["rows"] for side in row.sides]
    texts = {"".join(part.text for part in side.parts) for side in shown}
    assert {"The fee is 5 euros, see the table.", "Fee; 6 euros", "It costs 7 euros."} <= texts
    assert "Fees › Semester" in {side.heading for side in shown}


def test_of_two_languages_only_what_differs_is_marked_and_both_sides_name_theirs(anna: Any) -> None:
    faq = FAQFactory(question="What does it cost?", answer_de="Es kostet 5 Euro.", answer_en="It costs 6 euros.")
    sync_pages([faq.pk])
    german, english = (page.document for page in AnswerPage.objects.order_by("language"))
    texts = {"first_text": faq.answer_de, "second_text": faq.answer_en, "first_words": "5", "second_words": "6"}
    contradiction(german, english, **texts)
    content = sign_in(anna).get(LIST).content.decode()
    assert "Es kostet <mark>5</mark> Euro." in content
    assert "It costs <mark>6</mark> euros." in content
    assert "Answer written by staff, in German" in content
    assert "Answer written by staff, in English" in content
    assert content.count(reverse("admin:faqs_faq_change", args=[faq.pk])) == 2
    assert "Both are answers of one FAQ, last changed on" in content


def test_a_row_says_which_text_looks_older_and_who_last_changed_each(anna: Any) -> None:
    day = timezone.now() - timedelta(days=40)
    old, new = DocumentFactory(title="Fees", read_hash="0"), DocumentFactory(title="Money")
    Document.objects.filter(pk=old.pk).update(created_at=day)
    LogEntry.objects.log_actions(anna.pk, [new], CHANGE, "changed")
    contradiction(old, new)
    shown_on = [date_format(localtime(at), "DATE_FORMAT") for at in (day, timezone.now())]
    (row,) = sign_in(anna).get(LIST).context["rows"]
    assert row.advice == (
        f"“Fees” looks older, last changed on {shown_on[0]} (read from its website): check it first. “Money” was last "
        f"changed on {shown_on[1]} (anna)."
    )


def test_two_faqs_name_who_last_wrote_each_and_not_who_checked_it(anna: Any) -> None:
    one, other = FAQFactory(question="Fee?"), FAQFactory(question="How much?")
    SimilarPair.objects.create(first=one, second=other, similarity=0.9)
    day = timezone.now() - timedelta(days=40)
    for faq, reason, by, at in ((other, "form", anna, day), (other, "check", UserFactory(), timezone.now())):
        FAQVersion.objects.create(faq=faq, made_at=at, made_by=by, reason=reason, content={}, fingerprint="")
    (row,) = sign_in(anna).get(LIST).context["rows"]
    assert row.advice.startswith("“How much?” looks older")
    assert "(anna): check it first" in row.advice


def test_the_list_is_narrowed_by_kind_and_state(anna: Any) -> None:
    figure = contradiction(DocumentFactory(), DocumentFactory())
    date = contradiction(DocumentFactory(), DocumentFactory(), kind="date")
    dismissed = contradiction(DocumentFactory(), DocumentFactory(), state="dismissed")
    contradiction(DocumentFactory(), DocumentFactory(), state="gone")
    client = sign_in(anna)
    assert shown(client) == [figure, date]
    assert shown(client, kind="date") == [date]
    assert shown(client, kind="nonsense", state="gone") == [figure, date]
    assert shown(client, state="dismissed") == [dismissed]


def test_a_dismissal_is_recorded_and_taken_back(anna: Any) -> None:
    found = contradiction(DocumentFactory(), DocumentFactory())
    client, address = sign_in(anna), reverse("contradiction", args=[found.pk])
    client.post(address, {"step": "dismiss"})
    assert shown(client) == []
    assert LogEntry.objects.get().object_repr == f"#{found.pk}"
    response = client.post(address, {"step": "dismiss"}, follow=True)
    assert "Somebody else was faster" in response.content.decode()
    client.post(address, {"step": "reopen"})
    assert shown(client) == [found]
    assert LogEntry.objects.count() == 2


def test_staff_see_what_their_teams_look_after_on_both_sides() -> None:
    team = Group.objects.create(name="Law")
    own, others = CollectionFactory(), CollectionFactory()
    own.teams.add(team)
    seen = contradiction(DocumentFactory(collection=own), DocumentFactory(collection=own))
    hidden = contradiction(DocumentFactory(collection=own), DocumentFactory(collection=others))
    member = UserFactory(username="ben", permissions=MAY, teams=[team])
    client = sign_in(member)
    assert shown(client) == [seen]
    assert client.post(reverse("contradiction", args=[hidden.pk]), {"step": "dismiss"}).status_code == 404


def test_who_may_only_look_cannot_dismiss() -> None:
    found = contradiction(DocumentFactory(), DocumentFactory())
    client = sign_in(UserFactory(permissions=("knowledge.view_document",)))
    assert shown(client) == [found]
    assert client.post(reverse("contradiction", args=[found.pk]), {"step": "dismiss"}).status_code == 403
    assert sign_in(UserFactory(permissions=())).get(LIST).status_code == 403


def altered(page: Document) -> Document:
    page.altered_at = timezone.now()
    page.save()
    return page


def test_duplicates_and_changed_pages_stand_in_the_same_list(anna: Any) -> None:
    found = contradiction(DocumentFactory(), DocumentFactory())
    page = DocumentFactory()
    one, other = FAQFactory(documents=[page]), FAQFactory()
    pair = SimilarPair.objects.create(first=one, second=other, similarity=0.9)
    FAQSource.objects.update(verified_at=timezone.now() - timedelta(days=1))
    altered(page)
    CitationFactory(document=page)
    client = sign_in(anna)
    rows = client.get(LIST).context["rows"]
    # What a recent answer cited comes first.
    assert [(row.key.source, row.key.pk, row.key.touched) for row in rows] == [
        ("duplicate", pair.pk, 1),
        ("contradiction", found.pk, 0),
        ("changed", page.pk, 0),
    ]
    assert reverse("impact-document", args=[page.pk]) in client.get(LIST, {"kind": "changed"}).content.decode()
    (row,) = client.get(LIST, {"kind": "duplicate"}).context["rows"]
    assert client.get(row.step_url).context["rows"][0]["pair"] == pair
    assert client.get(LIST, {"kind": "duplicate", "state": "dismissed"}).context["rows"] == []
    assert [row.contradiction for row in client.get(LIST, {"kind": "figure"}).context["rows"]] == [found]
    readers = sign_in(UserFactory(username="reader", permissions=("knowledge.view_document",)))
    assert {row.key.source for row in readers.get(LIST).context["rows"]} == {"contradiction", "changed"}


@pytest.mark.parametrize("count", [1, 9])
def test_many_rows_take_few_queries(anna: Any, count: int) -> None:
    for number in range(count):
        contradiction(DocumentFactory(), DocumentFactory())
        one, other = FAQFactory(documents=[DocumentFactory()]), FAQFactory()
        SimilarPair.objects.create(first=one, second=other, similarity=number / 100)
    client = sign_in(anna)
    client.get(LIST)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        client.get(LIST)
    own = [each for each in captured if "staffsession" not in each["sql"] and 'FROM "auth_' not in each["sql"]]
    assert len(own) <= 10


def test_the_home_page_counts_open_ones(anna: Any) -> None:
    contradiction(DocumentFactory(), DocumentFactory())
    contradiction(DocumentFactory(), DocumentFactory(), state="dismissed")
    content = sign_in(anna).get(reverse("admin:index")).content.decode()
    assert "1 contradiction between pages, FAQs and answers." in content


def test_editing_leads_back_to_the_list_which_says_that_the_text_is_compared_again(anna: Any) -> None:
    one, other = DocumentFactory(), DocumentFactory()
    contradiction(one, other)
    client, now = sign_in(anna), timezone.now()
    feed = ReviewFeed.objects.create(name="contradicted", until=now)
    address = reverse("admin:knowledge_document_change", args=[one.pk])
    page = client.get(LIST, {"kind": "figure"}).content.decode()
    assert f'href="{address}?back={LIST}%3Fkind%3Dfigure"' in page
    assert "Edited at" not in page
    Document.objects.filter(pk=one.pk).update(updated_at=now + timedelta(minutes=1))
    assert "it is compared again within a minute." in client.get(LIST).content.decode()
    ReviewFeed.objects.filter(pk=feed.pk).update(until=now + timedelta(minutes=2))
    assert "Edited at" not in client.get(LIST).content.decode()
