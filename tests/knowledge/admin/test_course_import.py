"""A file of courses is checked, previewed and imported in the admin."""

import json
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from knowledge.models import Collection, Course
from knowledge.tasks import index_pending_documents
from tests.factories import CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db
PAGE = reverse("admin:knowledge_course_import")
FILE = "code,name,url,ects,colour\nDS1,Data,https://uni.example/ds1,6,red\nDS2,More,https://uni.example/ds2,6,\n"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    cache.clear()
    delay = Mock()
    monkeypatch.setattr(index_pending_documents, "delay", delay)
    return delay


def check(client: Client, collection: Collection, content: str = FILE, name: str = "courses.csv") -> Any:
    file = SimpleUploadedFile(name, content.encode())
    return client.post(PAGE, {"collection": collection.pk, "file": file})


def confirm(client: Client, checked: Any, **changes: str) -> Any:
    known = {name: checked.context[name] for name in ("file_key", "fingerprint")}
    return client.post(PAGE, {**known, "confirmed": "1", **changes}, follow=True)


def test_a_file_is_previewed_then_imported_and_put_on_record(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Any
) -> None:
    collection = CollectionFactory()
    checked = check(admin_client, collection)
    assert checked.context["counts"] == {"new": 2, "changed": 0, "unchanged": 0}
    assert "These columns are not read: colour." in checked.content.decode()
    assert not Course.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert "2 courses are new." in confirm(admin_client, checked).content.decode()
    queued.assert_called_once_with()
    assert set(Course.objects.values_list("code", "document__status", "document__collection")) == {
        ("DS1", "published", collection.pk),
        ("DS2", "published", collection.pk),
    }
    assert LogEntry.objects.count() == 2
    again = check(admin_client, collection, FILE.replace("Data", "Big data"))
    assert again.context["counts"] == {"new": 0, "changed": 1, "unchanged": 1}
    assert "DS1 Big data" in again.content.decode()
    assert Course.objects.get(code="DS1").name == "Data"
    confirm(admin_client, again)
    assert Course.objects.get(code="DS1").name == "Big data"


def test_a_file_with_a_mistake_names_each_row_and_imports_nothing(admin_client: Client) -> None:
    wrong = FILE.replace("ds1,6", "ds1,many").replace("https://uni.example/ds2", "no address")
    page = check(admin_client, CollectionFactory(), wrong)
    said = page.content.decode()
    assert "row 2: “ects” is &#x27;many&#x27;; it must be a number such as 6 or 7.5" in said
    assert "row 3:" in said
    assert "confirmed" not in said
    assert not Course.objects.exists()
    with override("de"):
        german = check(admin_client, CollectionFactory(), wrong, name="x.csv")
    assert german.status_code == 200


@pytest.mark.parametrize("content", ["", "code,name\nA,B\n", "{}", "[1]"])
def test_what_is_no_file_of_courses_is_said(admin_client: Client, content: str) -> None:
    page = check(admin_client, CollectionFactory(), content, name="courses.json" if content[:1] in "{[" else "c.csv")
    assert 'role="alert"' in page.content.decode()


def test_a_json_list_is_read_too(admin_client: Client) -> None:
    rows = [{"code": "DS1", "name": "Data", "url": "https://uni.example/ds1"}]
    checked = check(admin_client, CollectionFactory(), json.dumps(rows), name="courses.json")
    assert checked.context["counts"]["new"] == 1


def test_what_changed_since_the_check_is_shown_again_and_not_saved(admin_client: Client) -> None:
    collection = CollectionFactory()
    checked = check(admin_client, collection)
    confirm(admin_client, check(admin_client, collection, FILE.replace("Data", "Other")))
    page = confirm(admin_client, checked)
    assert "Something changed since the file was checked" in page.content.decode()
    assert Course.objects.get(code="DS1").name == "Other"


def test_a_file_of_somebody_else_or_none_is_not_imported(admin_client: Client, client: Client) -> None:
    checked = check(admin_client, CollectionFactory())
    other = Client()
    other.force_login(UserFactory(is_superuser=True))
    assert "no longer kept" in confirm(other, checked).content.decode()
    assert "no longer kept" in confirm(admin_client, checked, file_key="x").content.decode()
    assert not Course.objects.exists()


def test_a_team_imports_into_its_own_collections_alone() -> None:
    team = Group.objects.create(name="Law")
    own, foreign = CollectionFactory(), CollectionFactory()
    own.teams.add(team)
    may = ("knowledge.view_course", "knowledge.add_course", "knowledge.change_course")
    client = Client()
    client.force_login(UserFactory(permissions=may, teams=[team]))
    assert check(client, own).context["counts"]["new"] == 2
    assert "fingerprint" not in check(client, foreign).context
    assert PAGE in client.get(reverse("admin:knowledge_course_changelist")).content.decode()
    reader = Client()
    reader.force_login(UserFactory(permissions=may[:2]))
    assert reader.get(PAGE).status_code == 403
    assert PAGE not in reader.get(reverse("admin:knowledge_course_changelist")).content.decode()
