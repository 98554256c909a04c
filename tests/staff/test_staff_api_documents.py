"""Documents over the staff API."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks

from knowledge.models import Document, IndexChange
from knowledge.tasks import index_document
from tests.factories import CollectionFactory, CourseFactory, DocumentFactory, PassageFactory, UserFactory
from tests.staff.api import Program, row_version

pytestmark = pytest.mark.django_db
ALL = [f"knowledge.{verb}_document" for verb in ("view", "add", "change", "delete")]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    cache.clear()
    delay = Mock()
    monkeypatch.setattr(index_document, "delay", delay)
    return delay


@pytest.fixture
def curator() -> User:
    user: User = UserFactory(permissions=ALL)
    return user


@pytest.fixture
def program(curator: User) -> Program:
    return Program(curator)


def document_body(**changes: Any) -> dict[str, Any]:
    collection = CollectionFactory().slug if "collection" not in changes else ""
    text = "  Indented.\n\n# Fees\n\nIt is 318.40 euros.\n"
    body = {"collection": collection, "url": "https://www.uni.example/fees", "title": "Fees", "text": text}
    return {**body, **changes}


def test_a_document_is_added_as_it_was_sent_and_indexed_after_the_commit(
    program: Program, queued: Mock, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    body = document_body(audience=["regulation:2024"], valid_from="2026-10-01", metadata={"og": {"title": "Fees"}})
    with django_capture_on_commit_callbacks(execute=True):
        reply = program.post("/documents/", body)
        assert reply.status_code == 201, reply.content
        queued.assert_not_called()
    queued.assert_called_once_with(reply.json()["id"])
    assert {name: reply.json()[name] for name in body} == body
    assert program.get(f"/documents/{reply.json()['id']}/").json() == reply.json()


def test_a_change_keeps_the_version_before_and_says_on_record_what_was_changed(program: Program) -> None:
    document = DocumentFactory(text="Old.")
    reply = program.patch(f"/documents/{document.pk}/", {"version": row_version(document), "text": "New."})
    assert reply.status_code == 200
    assert reply.json()["text"] == "New."
    assert reply.json()["version"] == row_version(document)
    assert document.revisions.get().text == "Old."
    assert program.get("/documents/").json()["results"][0]["id"] == document.pk


def test_the_second_of_two_who_change_one_document_is_told_and_loses_nothing(program: Program) -> None:
    document = DocumentFactory(title="Fees", text="Old.")
    seen = program.get(f"/documents/{document.pk}/").json()
    first = Program(UserFactory(permissions=ALL))
    assert first.patch(f"/documents/{document.pk}/", {**seen, "text": "First."}).status_code == 200
    reply = program.patch(f"/documents/{document.pk}/", {**seen, "text": "Second."})
    assert reply.status_code == 409
    problem = reply.json()
    assert (problem["code"], problem["changed"]) == ("conflict", ["text"])
    assert problem["current"]["text"] == "First."
    document.refresh_from_db()
    assert document.text == "First."
    again = {**seen, "text": "Second.", "version": problem["current"]["version"]}
    assert program.patch(f"/documents/{document.pk}/", again).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_the_very_same_time_one_is_made() -> None:
    document = DocumentFactory()
    programs = [Program(UserFactory(permissions=ALL)) for _ in range(4)]
    version = row_version(document)

    def change(program: Program) -> int:
        try:
            return int(program.patch(f"/documents/{document.pk}/", {"version": version, "text": "New."}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(change, programs))
    assert statuses == [200, 409, 409, 409]


def test_a_change_says_which_version_it_was_made_from(program: Program) -> None:
    document = DocumentFactory()
    reply = program.patch(f"/documents/{document.pk}/", {"title": "Another"})
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"] == "version"


def test_sending_back_what_was_read_changes_nothing(program: Program, curator: User) -> None:
    document = DocumentFactory()
    seen = program.get(f"/documents/{document.pk}/").json()
    reply = program.call("put", f"/documents/{document.pk}/", seen)
    assert reply.status_code == 200
    assert reply.json() == seen
    assert not curator.logentry_set.exists()


def test_what_a_document_must_hold_to_is_the_same_as_in_the_admin(program: Program) -> None:
    there = DocumentFactory()
    wrong = {
        "url": {"url": "javascript:alert(1)"},
        "audience": {"audience": ["everybody"]},
        "status": {"status": "live"},
        "valid_from": {"valid_from": "soon"},
        "collection": {"collection": "nowhere"},
        "metadata": {"metadata": ["a list"]},
    }
    for field, values in wrong.items():
        reply = program.post("/documents/", document_body(**values))
        assert reply.status_code == 400
        assert reply.json()["errors"][0]["field"].startswith(field), reply.json()
    twice = program.post("/documents/", document_body(url=there.url, collection=there.collection.slug))
    assert "already has a document" in str(twice.json()["errors"])
    turned = program.post("/documents/", document_body(valid_from="2026-10-02", valid_until="2026-10-01"))
    assert turned.status_code == 400
    assert Document.objects.count() == 1


def test_a_document_moves_only_to_collections_of_ones_own(curator: User) -> None:
    from django.contrib.auth.models import Group

    team = Group.objects.create(name="Law")
    own = CollectionFactory()
    own.teams.add(team)
    document, foreign = DocumentFactory(collection=own), CollectionFactory()
    program = Program(UserFactory(teams=[team], permissions=ALL))
    reply = program.patch(f"/documents/{document.pk}/", {"version": row_version(document), "collection": foreign.slug})
    assert reply.status_code == 400
    document.refresh_from_db()
    assert document.collection == own


def test_a_courses_document_is_written_from_its_record(program: Program) -> None:
    document = CourseFactory().document
    reply = program.patch(f"/documents/{document.pk}/", {"version": row_version(document), "text": "Mine."})
    assert reply.json()["errors"][0]["field"] == "text"
    reply = program.patch(f"/documents/{document.pk}/", {"version": row_version(document), "status": "archived"})
    assert reply.status_code == 200, reply.content
    assert program.call("delete", f"/documents/{document.pk}/").status_code == 403


def test_a_deleted_document_leaves_the_lexical_index_too(program: Program) -> None:
    document = DocumentFactory()
    assert program.call("delete", f"/documents/{document.pk}/").status_code == 204
    assert not Document.objects.exists()
    assert IndexChange.objects.filter(document_id=document.pk).exists()


def test_passages_are_read_in_their_order(program: Program) -> None:
    document = DocumentFactory()
    for position in (2, 0, 1):
        PassageFactory(document=document, position=position)
    rows = program.get(f"/documents/{document.pk}/passages/?size=2").json()
    assert [row["position"] for row in rows["results"]] == [0, 1]
    assert [row["position"] for row in program.get(rows["next"]).json()["results"]] == [2]
    assert "embedding" not in rows["results"][0]


def test_documents_are_filtered_and_searched(program: Program) -> None:
    today = timezone.localdate()
    german = DocumentFactory(language="de", title="Gebühren", text="Semesterbeitrag")
    expired = DocumentFactory(valid_until=today - timedelta(days=1))
    later = DocumentFactory(valid_from=today + timedelta(days=1), status="draft")
    old = DocumentFactory(external_id="old")
    Document.objects.filter(pk=old.pk).update(updated_at=timezone.now() - timedelta(days=9))
    yesterday = (timezone.now() - timedelta(days=1)).isoformat().replace("+", "%2B")
    found = {
        "language=de": {german},
        "search=semester": {german},
        "valid=expired": {expired},
        "valid=later": {later},
        "status=draft": {later},
        "external_id=old": {old},
        f"updated_before={yesterday}": {old},
        f"updated_since={yesterday}": {german, expired, later},
        "updated_since=2020-01-01T00:00:00%2B20:00&language=de": {german},
        f"collection={german.collection.slug}": {german},
        f"url={german.url}": {german},
        "language=de&status=draft": set(),
    }
    for query, documents in found.items():
        rows = program.get(f"/documents/?{query}").json()["results"]
        assert {row["id"] for row in rows} == {document.pk for document in documents}, query
    late = "9999-12-31T23:59:59-20:00"
    for query in (f"updated_since={late}", "status=live", "valid=maybe", "updated_since=yesterday", "search=%00"):
        assert program.get(f"/documents/?{query}").status_code == 400, query
