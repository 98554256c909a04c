"""FAQs over the staff API."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache

from faqs.models import FAQ
from tests.factories import CategoryFactory, CollectionFactory, DocumentFactory, FAQFactory, UserFactory
from tests.staff.api import Program, read_version

pytestmark = pytest.mark.django_db
CURATOR = [f"faqs.{verb}_faq" for verb in ("view", "add", "change", "delete")]
EDITOR = [*CURATOR, "faqs.publish_faq"]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    cache.clear()
    queue = Mock()
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", queue)
    return queue


@pytest.fixture
def editor() -> User:
    user: User = UserFactory(permissions=EDITOR)
    return user


@pytest.fixture
def program(editor: User) -> Program:
    return Program(editor)


def patch(program: Program, faq: FAQ, **values: Any) -> Any:
    return program.patch(f"/faqs/{faq.pk}/", {"version": read_version(faq), **values})


def test_an_faq_is_added_as_a_draft_with_its_phrasings_and_documents_in_order(program: Program, editor: User) -> None:
    first, second = DocumentFactory(), DocumentFactory()
    body = {
        "question": "How much is it?",
        "phrasings": ["What does it cost?", "What do I pay?"],
        "sources": [{"document": second.pk}, {"document": first.pk}],
        "collection": first.collection.slug,
        "category": CategoryFactory().name,
        "language": "de",
    }
    reply = program.post("/faqs/", body)
    assert reply.status_code == 201, reply.content
    made = reply.json()
    assert made["status"] == "draft"
    assert made["phrasings"] == body["phrasings"]
    assert [source["document"] for source in made["sources"]] == [second.pk, first.pk]
    assert made["sources"][0]["url"] == second.url
    version = FAQ.objects.get().versions.get()
    assert version.made_by == editor
    assert program.get("/faqs/").json()["results"] == [made]


def test_a_change_leaves_a_version_and_what_was_not_sent_as_it_was(program: Program, editor: User) -> None:
    faq = FAQFactory(phrasings=["One", "Two"], documents=[DocumentFactory()])
    reply = patch(program, faq, phrasings=["Two", "Three"])
    assert reply.status_code == 200
    assert reply.json()["phrasings"] == ["Two", "Three"]
    assert len(reply.json()["sources"]) == 1
    assert faq.versions.first().made_by == editor
    assert faq.versions.first().get_reason_display() == "over the staff API"
    assert editor.logentry_set.get().get_change_message() == "Changed phrasings."


def test_the_second_of_two_who_change_one_faq_is_told_what_it_says_now(program: Program) -> None:
    faq = FAQFactory(phrasings=["One"])
    seen = program.get(f"/faqs/{faq.pk}/").json()
    assert patch(program, faq, phrasings=["Two"]).status_code == 200
    reply = program.call("put", f"/faqs/{faq.pk}/", {**seen, "question": "What else?"})
    assert reply.status_code == 409
    problem = reply.json()
    assert problem["changed"] == ["question", "phrasings"]
    assert problem["current"]["phrasings"] == ["Two"]
    late = program.post(f"/faqs/{faq.pk}/publish/", {"version": seen["version"]})
    assert late.status_code == 409


def test_an_faq_without_a_document_is_not_published(program: Program) -> None:
    faq = FAQFactory()
    reply = program.post(f"/faqs/{faq.pk}/publish/", {"version": read_version(faq)})
    assert reply.status_code == 400
    assert "no answer yet" in str(reply.json()["errors"])


def test_publishing_and_retiring_are_on_record_and_leave_versions(program: Program, editor: User) -> None:
    faq = FAQFactory(documents=[DocumentFactory()])
    for action, status in {
        "review": "in_review",
        "publish": "published",
        "retire": "retired",
        "draft": "draft",
    }.items():
        reply = program.post(f"/faqs/{faq.pk}/{action}/", {"version": read_version(faq)})
        assert reply.json()["status"] == status
    assert editor.logentry_set.count() == 4
    assert faq.versions.filter(made_by=editor, reason="api").count() == 4


def test_what_students_get_is_changed_by_those_who_may_publish(program: Program) -> None:
    faq = FAQFactory(documents=[DocumentFactory()], status="published")
    curator = Program(UserFactory(permissions=CURATOR))
    assert patch(curator, faq, question="What?").status_code == 403
    assert curator.call("delete", f"/faqs/{faq.pk}/").status_code == 403
    for action in ("publish", "retire", "draft"):
        reply = curator.post(f"/faqs/{faq.pk}/{action}/", {"version": read_version(faq)})
        assert reply.status_code == 403
    assert patch(program, faq, sources=[]).status_code == 400
    assert patch(program, faq, question="What?").status_code == 200
    assert FAQ.objects.get().question == "What?"


def test_the_status_is_not_changed_in_passing(program: Program) -> None:
    faq = FAQFactory()
    reply = patch(program, faq, status="published")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (400, "status")
    assert patch(program, faq, status="draft").json()["status"] == "draft"


def test_documents_of_other_teams_and_archived_ones_are_not_linked() -> None:
    team = Group.objects.create(name="Law")
    own = CollectionFactory()
    own.teams.add(team)
    program = Program(UserFactory(teams=[team], permissions=CURATOR))
    mine = DocumentFactory(collection=own)
    others = [DocumentFactory(), DocumentFactory(collection=own, status="archived")]
    body = {"question": "What?", "collection": own.slug}
    for document in others:
        reply = program.post("/faqs/", {**body, "sources": [{"document": mine.pk}, {"document": document.pk}]})
        assert reply.status_code == 400
        assert str(document.pk) in str(reply.json()["errors"])
    assert program.post("/faqs/", {"question": "What?"}).json()["errors"][0]["field"] == "collection"
    made = program.post("/faqs/", {**body, "sources": [{"document": mine.pk}]})
    assert made.status_code == 201
    mine.status = "archived"
    mine.save()
    faq = FAQ.objects.get()
    assert patch(program, faq, sources=[{"document": mine.pk}], question="What else?").status_code == 200
    assert patch(program, faq, collection=None).status_code == 400


def test_a_translation_is_of_an_faq_of_ones_own_in_another_language(program: Program) -> None:
    original = FAQFactory(language="en")
    german, english = FAQFactory(language="de"), FAQFactory(language="en")
    assert patch(program, german, translation_of=original.pk).status_code == 200
    assert patch(program, english, translation_of=original.pk).status_code == 400
    assert patch(program, german, translation_of=999_999).status_code == 400


def test_faqs_are_filtered_and_searched(program: Program) -> None:
    document = DocumentFactory()
    linked = FAQFactory(documents=[document], status="published", collection=document.collection)
    german = FAQFactory(language="de", phrasings=["Was kostet es?"])
    for query, faqs in {
        f"document={document.pk}": {linked},
        "status=published": {linked},
        f"collection={document.collection.slug}": {linked},
        "language=de": {german},
        "search=kostet": {german},
        "valid=today": {linked, german},
        "valid=expired": set(),
    }.items():
        rows = program.get(f"/faqs/?{query}").json()["results"]
        assert {row["id"] for row in rows} == {faq.pk for faq in faqs}, query
    assert program.get("/faqs/?document=many").status_code == 400


def test_a_deleted_faq_is_gone(program: Program) -> None:
    faq = FAQFactory(phrasings=["One"], documents=[DocumentFactory()])
    assert program.call("delete", f"/faqs/{faq.pk}/").status_code == 204
    assert not FAQ.objects.exists()
