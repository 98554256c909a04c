"""Courses that a document describes are proposed to staff, who accept them; nothing is written before."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from knowledge.models import Course, Document
from knowledge.services.documents import save_course
from knowledge.tasks import index_pending_documents
from tests.factories import CollectionFactory, CourseFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
MAY = ("knowledge.view_document", "knowledge.view_course", "knowledge.add_course", "knowledge.change_course")
HANDBOOK = "".join(
    f"<!-- page {page} -->\n\n# {name}\n\n- Module no: {code}; State: compulsory\n- Turn: yearly; CP: 6\n\n"
    f"4 Course content:\n\nAbout {name.lower()}.\n\n"
    for page, (code, name) in enumerate([("LA 1", "Parks"), ("LA 2", "Meadows"), ("LA 3", "Woods")], start=3)
)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    cache.clear()
    delay = Mock()
    monkeypatch.setattr(index_pending_documents, "delay", delay)
    return delay


@pytest.fixture
def handbook() -> Document:
    return make_handbook()


def make_handbook(text: str = HANDBOOK, **values: Any) -> Document:
    document: Document = DocumentFactory(title="Handbook of modules", text=text, **values)
    return document


def page_of(document: Document) -> str:
    return reverse("admin:knowledge_course_proposals", args=[document.pk])


def accept(client: Client, document: Document, *codes: str, seen: Any = None) -> Any:
    seen = seen or client.get(page_of(document))
    return client.post(page_of(document), {"fingerprint": seen.context["fingerprint"], "chosen": [*codes]}, follow=True)


def accept_all(client: Client, document: Document) -> None:
    accept(client, document, "la1", "la2", "la3")


def say(document: Document, old: str, new: str) -> None:
    """Have the handbook read anew, with something else in it."""
    document.text = document.text.replace(old, new)
    document.save()


def counts(client: Client, document: Document) -> dict[str, int]:
    shown: dict[str, int] = client.get(page_of(document)).context["counts"]
    return {kind: count for kind, count in shown.items() if count}


def test_staff_accept_some_of_the_courses_that_are_proposed(
    admin_client: Client, handbook: Document, queued: Mock, django_capture_on_commit_callbacks: Any
) -> None:
    seen = admin_client.get(page_of(handbook))
    assert seen.context["counts"] == {"new": 3, "changed": 0, "conflict": 0, "unchanged": 0}
    said = seen.content.decode()
    assert "The passages of the document stay" in said
    assert "A course has no field for these; they stay in the document alone: Turn." in said
    assert not Course.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        done = accept(admin_client, handbook, "la1", "la3", seen=seen)
    assert "2 courses are new." in done.content.decode()
    queued.assert_called_once_with()
    parks = Course.objects.get(code="LA 1")
    assert (parks.name, parks.ects, parks.is_mandatory, parks.contents) == ("Parks", 6, True, "About parks.")
    assert parks.document.url == f"{handbook.url}#page=3&module=la1"
    assert parks.document.collection == handbook.collection
    assert (parks.document.status, parks.read_from) == (Document.Status.PUBLISHED, handbook)
    assert "About parks." in parks.document.text
    assert set(Course.objects.values_list("code", flat=True)) == {"LA 1", "LA 3"}
    assert set(LogEntry.objects.values_list("change_message", flat=True)) == {"read from “Handbook of modules”"}
    assert LogEntry.objects.count() == 2
    assert done.context["counts"] == {"new": 1, "changed": 0, "conflict": 0, "unchanged": 2}


def test_what_changes_in_the_handbook_is_proposed_again_and_never_written_by_itself(
    admin_client: Client, handbook: Document
) -> None:
    accept_all(admin_client, handbook)
    say(handbook, "CP: 6\n\n4 Course content:\n\nAbout parks", "CP: 9\n\n4 Course content:\n\nAbout old parks")
    assert Course.objects.get(code="LA 1").ects == 6
    assert counts(admin_client, handbook) == {"changed": 1, "unchanged": 2}
    accept(admin_client, handbook, "la1")
    parks = Course.objects.get(code="LA 1")
    assert (parks.ects, parks.contents) == (9, "About old parks.")
    assert counts(admin_client, handbook) == {"unchanged": 3}


def test_what_staff_changed_stays_until_the_handbook_says_something_else_there(
    admin_client: Client, handbook: Document
) -> None:
    accept_all(admin_client, handbook)
    parks = Course.objects.get(code="LA 1")
    parks.contents = "About parks, and rivers.\r\n"
    save_course(course=parks, document=parks.document)
    assert counts(admin_client, handbook) == {"unchanged": 3}
    say(handbook, "CP: 6", "CP: 7")
    accept_all(admin_client, handbook)
    parks.refresh_from_db()
    assert (parks.ects, parks.contents) == (7, "About parks, and rivers.\r\n")
    say(handbook, "About parks.", "About gardens.")
    seen = admin_client.get(page_of(handbook))
    assert seen.context["counts"]["conflict"] == 1
    assert "changed here" in seen.content.decode()
    row = seen.context["groups"][0][1][0]
    assert not row.is_chosen
    accept(admin_client, handbook, "la1")
    parks.refresh_from_db()
    assert parks.contents == "About gardens."


def test_a_course_whose_code_staff_changed_is_not_proposed_anew(admin_client: Client, handbook: Document) -> None:
    accept_all(admin_client, handbook)
    Course.objects.filter(code="LA 1").update(code="LAND 1")
    assert counts(admin_client, handbook) == {"unchanged": 3}
    say(handbook, "CP: 6", "CP: 7")
    accept_all(admin_client, handbook)
    assert Course.objects.get(code="LAND 1").ects == 7
    assert Course.objects.count() == 3


def test_a_course_from_elsewhere_is_to_be_decided_and_keeps_its_address(
    admin_client: Client, handbook: Document
) -> None:
    page = DocumentFactory(collection=handbook.collection, url="https://uni.example/parks")
    CourseFactory(document=page, code="la-1", name="Public parks", field="Landscapes", ects=None)
    assert counts(admin_client, handbook) == {"conflict": 1, "new": 2}
    accept(admin_client, handbook, "la1")
    parks = Course.objects.get(document=page)
    assert (parks.code, parks.name, parks.field, parks.ects) == ("la-1", "Parks", "Landscapes", 6)
    assert parks.document.url == "https://uni.example/parks"
    assert counts(admin_client, handbook) == {"unchanged": 1, "new": 2}


def test_the_next_handbook_takes_the_courses_over_when_the_last_one_is_archived(
    admin_client: Client, handbook: Document
) -> None:
    accept_all(admin_client, handbook)
    following = make_handbook(HANDBOOK.replace("CP: 6", "CP: 5"), collection=handbook.collection)
    seen = admin_client.get(page_of(following))
    assert seen.context["counts"]["conflict"] == 3
    assert "Archive the older one." in seen.content.decode()
    handbook.status = Document.Status.ARCHIVED
    handbook.save()
    assert counts(admin_client, following) == {"changed": 3}
    accept_all(admin_client, following)
    parks = Course.objects.get(code="LA 1")
    assert (parks.ects, parks.read_from) == (5, following)
    assert parks.document.url == f"{following.url}#page=3&module=la1"


def test_courses_outlive_their_handbook(admin_client: Client, handbook: Document) -> None:
    accept_all(admin_client, handbook)
    handbook.delete()
    assert set(Course.objects.values_list("code", "read_from")) == {("LA 1", None), ("LA 2", None), ("LA 3", None)}


def test_courses_are_for_those_whom_the_document_is_for(admin_client: Client) -> None:
    handbook = make_handbook(audience=["programme:landscape"], valid_until="2099-09-30")
    accept(admin_client, handbook, "la1")
    own = Course.objects.get().document
    assert own.audience == ["programme:landscape"]
    assert str(own.valid_until) == "2099-09-30"


def test_of_two_tabs_the_second_looks_again(admin_client: Client, handbook: Document) -> None:
    first, second = admin_client.get(page_of(handbook)), admin_client.get(page_of(handbook))
    accept(admin_client, handbook, "la1", seen=first)
    late = accept(admin_client, handbook, "la2", seen=second)
    assert "Nothing was written: the document or a course changed" in late.content.decode()
    assert set(Course.objects.values_list("code", flat=True)) == {"LA 1"}
    ticked = {row.proposal.key: row.is_chosen for _kind, rows in late.context["groups"] for row in rows}
    assert ticked == {"la2": True, "la3": False}
    accept(admin_client, handbook, "la2", seen=late)
    assert set(Course.objects.values_list("code", flat=True)) == {"LA 1", "LA 2"}


def test_nothing_chosen_writes_nothing_and_says_so(admin_client: Client, handbook: Document) -> None:
    assert "no course was chosen" in accept(admin_client, handbook).content.decode()
    assert not Course.objects.exists()


def test_what_cannot_be_read_is_named_in_plain_words(admin_client: Client) -> None:
    handbook = make_handbook(HANDBOOK.replace("LA 3", "LA 1"))
    said = admin_client.get(page_of(handbook)).content.decode()
    assert "it has the same code as “Parks”, which stands before it" in said
    with override("de"):
        assert admin_client.get(page_of(handbook), HTTP_ACCEPT_LANGUAGE="de").status_code == 200


def test_a_document_of_a_data_set_proposes_nothing(admin_client: Client) -> None:
    handbook = make_handbook(collection=CollectionFactory(for_evaluation=True))
    assert admin_client.get(page_of(handbook)).status_code == 404
    document = reverse("admin:knowledge_document_change", args=[handbook.pk])
    assert page_of(handbook) not in admin_client.get(document).content.decode()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"text": "# Fees\n\nAll about fees."}, "No courses can be read from this document"),
        ({"status": Document.Status.DRAFT}, "The document is not published."),
    ],
)
def test_an_empty_result_says_why(admin_client: Client, document: dict[str, str], reason: str) -> None:
    page = admin_client.get(page_of(make_handbook(**{"text": HANDBOOK, **document})))
    assert reason in page.content.decode()
    assert 'type="checkbox"' not in page.content.decode()


def test_the_documents_page_and_the_list_of_courses_lead_there(admin_client: Client, handbook: Document) -> None:
    listed = reverse("admin:knowledge_course_documents")
    assert listed in admin_client.get(reverse("admin:knowledge_course_changelist")).content.decode()
    said = admin_client.get(listed).content.decode()
    assert page_of(handbook) in said
    assert "3 courses can be read from it" in said
    document = reverse("admin:knowledge_document_change", args=[handbook.pk])
    assert "3 courses can be read from this document." in admin_client.get(document).content.decode()
    accept_all(admin_client, handbook)
    assert "All of them are there as it says." in admin_client.get(document).content.decode()
    course = reverse("admin:knowledge_course_change", args=[Course.objects.filter(code="LA 1").get().pk])
    assert document in admin_client.get(course).content.decode()


def test_without_a_handbook_the_list_says_what_is_needed(admin_client: Client) -> None:
    DocumentFactory(text="# Modules\n\nEach module has credits.")
    said = admin_client.get(reverse("admin:knowledge_course_documents")).content.decode()
    assert "None of your published documents describes at least three modules" in said


def test_a_team_accepts_courses_of_its_own_documents_alone(handbook: Document) -> None:
    team = Group.objects.create(name="Landscape")
    own = make_handbook(collection=CollectionFactory())
    own.collection.teams.add(team)
    client = Client()
    client.force_login(UserFactory(permissions=MAY, teams=[team]))
    said = client.get(reverse("admin:knowledge_course_documents")).content.decode()
    assert page_of(own) in said
    assert page_of(handbook) not in said
    assert client.get(page_of(handbook)).status_code == 404
    assert client.post(page_of(handbook), {"chosen": ["la1"]}).status_code == 404
    accept(client, own, "la1")
    assert Course.objects.get().document.collection == own.collection


@pytest.mark.parametrize("lacking", ["knowledge.view_document", "knowledge.add_course", "knowledge.change_course"])
def test_who_lacks_a_permission_sees_and_accepts_nothing(handbook: Document, lacking: str) -> None:
    client = Client()
    client.force_login(UserFactory(permissions=[each for each in MAY if each != lacking]))
    assert client.get(page_of(handbook)).status_code == 403
    assert client.post(page_of(handbook), {"chosen": ["la1"]}).status_code == 403
    listed = reverse("admin:knowledge_course_documents")
    assert client.get(listed).status_code == 403
    assert listed not in client.get(reverse("admin:knowledge_course_changelist")).content.decode()
    assert not Course.objects.exists()
