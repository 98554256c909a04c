"""The staff API as a whole: who may do what to which rows, pages, filters, limits, and how errors are told."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks

from knowledge.models import Document
from marcelcms.rest.urls import router
from tests.factories import DocumentFactory, FAQFactory, UserFactory
from tests.staff.api import ROOT, Program, Rows, make_joined_topic, make_member, make_topic, read_version, rows_of_team

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_counted_or_queued(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    cache.clear()
    settings.SMALLEST_GROUP = 1  # a report is of one answer here
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", Mock())


@pytest.fixture
def own() -> Rows:
    return rows_of_team("Faculty of Law")


@pytest.fixture
def foreign() -> Rows:
    return rows_of_team("Faculty of Arts")


# --- every operation, as the router has it ---


@dataclass(frozen=True)
class Operation:
    basename: str
    action: str
    method: str
    route: str
    is_detail: bool
    needs: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.basename} {self.action}"

    def address(self, rows: Rows) -> str:
        kwargs = {"pk": rows.key(self.basename)} if self.is_detail else {}
        return reverse(f"staff-api:{self.route}", kwargs=kwargs).removeprefix(ROOT)


def operations() -> Iterator[Operation]:
    for _prefix, viewset, basename in router.registry:
        for route in router.get_routes(viewset):
            for method, action in router.get_method_map(viewset, route.mapping).items():
                name = route.name.format(basename=basename)
                yield Operation(basename, action, method, name, route.detail, tuple(viewset.needs[action]))


OPERATIONS = {operation.name: operation for operation in operations()}


def new_document(rows: Rows) -> dict[str, Any]:
    return {"collection": rows.collection.slug, "url": "https://www.uni.example/new", "title": "New", "text": "New."}


def of_version(row: str, **more: Any) -> Callable[[Rows], dict[str, Any]]:
    return lambda rows: {"version": read_version(getattr(rows, row)), **more}


#: What is sent where something is to be sent; an operation that changes something and is not here fails its test.
BODIES: dict[str, Callable[[Rows], dict[str, Any]]] = {
    "documents create": new_document,
    "documents update": lambda rows: {**new_document(rows), "version": read_version(rows.document)},
    "documents partial_update": of_version("document", title="Another"),
    "faqs create": lambda rows: {"question": "What now?", "collection": rows.collection.slug},
    "faqs update": of_version("faq", question="What now?"),
    "faqs partial_update": of_version("faq", question="What now?"),
    "faqs publish": of_version("faq"),
    "faqs retire": of_version("faq"),
    "faqs review": of_version("faq"),
    "faqs draft": of_version("faq"),
    "gaps partial_update": lambda rows: {"name": "Parking permits", "state": "in_work"},
    "gaps draft": lambda rows: {"question": "Where do I park?", "documents": [rows.document.pk]},
    "topics partial_update": lambda rows: {"name": "Parking permits", "is_pinned": True},
    "topics split": lambda rows: {"joined": make_joined_topic(rows.topic).pk},
    "topics join": lambda rows: {"into": make_topic(rows.topic.assistant, "Cars").pk},
    "reviews judge": of_version("review", verdict="missing_knowledge", done=True),
    "reviews assign": of_version("review", to=None),
    "reviews comment": lambda rows: {"text": "Look at the new rules."},
    "evaluation-runs create": lambda rows: {"evaluation_set": rows.evaluation_set.pk, "profiles": ["default"]},
    "reports create": lambda rows: {"name": "Fees", "definition": {"columns": ["question"]}},
    "reports update": lambda rows: {"name": "Fees", "definition": {"columns": ["question"]}},
    "reports partial_update": lambda rows: {"definition": {"format": "xlsx"}},
    "report-exports create": lambda rows: {"report": rows.report.pk},
    "report-exports cancel": lambda rows: {},
}
#: Of these there are none of a team's own; the reports are shared ones.
OF_THE_UNIVERSITY = {"reports"}
#: Colleagues read a shared report and have files made of it.
OF_ITS_OWNER = {"reports update", "reports partial_update", "reports destroy"}
#: What these tell are no rows.
NO_ROWS = {"figures list", "topics list"}
#: An FAQ that is a draft already stays one, and a file that is ready stays: nothing is put on record.
CHANGES_NOTHING = {"faqs draft", "report-exports cancel"}
#: It changes nothing, but who takes a file along is put on record.
RECORDED_THOUGH_READ = {"report-exports file"}


def call(program: Program, operation: Operation, rows: Rows) -> Any:
    body = BODIES[operation.name](rows) if operation.method in {"post", "put", "patch"} else None
    reply = program.call(operation.method, operation.address(rows), body)
    if reply.streaming:
        reply.getvalue()
    return reply


@pytest.fixture(params=OPERATIONS)
def operation(request: pytest.FixtureRequest) -> Operation:
    return OPERATIONS[request.param]


def test_who_lacks_a_permission_may_not_nor_who_is_no_member_of_staff_or_nobody(
    operation: Operation, own: Rows
) -> None:
    assert operation.needs
    reply = call(Program(), operation, own)
    assert reply["WWW-Authenticate"] == "Bearer"
    assert_problem(reply, "token_required")
    users = [make_member(own, *(set(operation.needs) - {lacking})) for lacking in operation.needs]
    users.append(UserFactory(is_staff=False, permissions=operation.needs))
    for user in users:
        assert_problem(call(Program(user), operation, own), "forbidden")
    assert not LogEntry.objects.exists()


def test_the_rows_of_another_team_are_not_found(operation: Operation, own: Rows, foreign: Rows) -> None:
    program = Program(make_member(own, *operation.needs))
    if operation.name in OF_ITS_OWNER:
        assert call(program, operation, foreign).status_code == 403
    elif operation.basename in OF_THE_UNIVERSITY or operation.name in NO_ROWS:
        assert call(program, operation, foreign).status_code < 300
    elif operation.is_detail:
        reply = call(program, operation, foreign)
        assert reply.status_code == 404
        assert_problem(reply, "not_found")
    elif operation.method == "get":
        listed = {row["id"] for row in call(program, operation, foreign).json()["results"]}
        assert str(own.key(operation.basename)) in map(str, listed)
        assert str(foreign.key(operation.basename)) not in map(str, listed)
    else:
        reply = call(program, operation, foreign)
        assert reply.status_code == 400
        assert reply.json()["errors"][0]["field"] in {"collection", "evaluation_set", "report"}


def test_who_may_does_it_to_what_their_team_looks_after_and_it_is_on_record(operation: Operation, own: Rows) -> None:
    user = make_member(own, *operation.needs)
    reply = call(Program(user), operation, own)
    assert reply.status_code in {200, 201, 204}, reply.content
    assert reply["Cache-Control"] == "no-store"
    recorded = LogEntry.objects.filter(user=user).exists()
    is_change = operation.method != "get" and operation.name not in CHANGES_NOTHING
    assert recorded == (is_change or operation.name in RECORDED_THOUGH_READ)


def test_who_sees_everything_does_it_to_all(operation: Operation, foreign: Rows) -> None:
    status = call(Program(UserFactory(permissions=operation.needs)), operation, foreign).status_code
    assert status == 403 if operation.name in OF_ITS_OWNER else status < 300


@pytest.mark.parametrize("name", BODIES)
def test_a_field_that_there_is_not_is_refused_and_nothing_is_done(name: str, own: Rows) -> None:
    operation = OPERATIONS[name]
    user = make_member(own, *operation.needs)
    body = BODIES[name](own) | {"colection": "site", "nope": None}
    reply = Program(user).call(operation.method, operation.address(own), body)
    assert reply.status_code == 400, reply.content
    assert [error["field"] for error in reply.json()["errors"]] == ["colection", "nope"]
    assert not LogEntry.objects.filter(user=user).exists()


@pytest.mark.parametrize(
    ("name", "changes", "field"),
    [
        ("reports create", {"definition": {"columns": ["question"], "nope": 1}}, "definition.nope"),
        ("reports partial_update", {"definition": {"nope": 1}}, "definition.nope"),
        ("reports partial_update", {"columns": []}, "columns"),
        ("faqs create", {"sources": [{"document": 1, "titel": "Fees"}]}, "sources.0.titel"),
        ("faqs partial_update", {"status": "published"}, "status"),
        ("documents create", {"id": 1}, "id"),
    ],
)
def test_nor_is_one_within_another_or_one_that_is_only_read(
    name: str, changes: dict[str, Any], field: str, own: Rows
) -> None:
    operation = OPERATIONS[name]
    body = BODIES[name](own) | changes
    reply = Program(make_member(own, *operation.needs)).call(operation.method, operation.address(own), body)
    assert [error["field"] for error in reply.json()["errors"]] == [field]


def test_all_that_is_wrong_is_told_with_what_is_unknown(own: Rows) -> None:
    program = Program(make_member(own, "analytics.export_reports"))
    errors = program.post("/report-exports/", {"report": "Fees", "format": "pdf"}).json()["errors"]
    assert {error["field"]: error["message"] for error in errors}[
        "format"
    ] == "There is no such field here. There are: report."
    assert {error["field"] for error in errors} == {"report", "format"}


# --- sessions ---


def test_a_session_serves_too_but_changes_nothing_without_its_csrf_token(own: Rows) -> None:
    user = make_member(own, "knowledge.view_document", "knowledge.add_document")
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.get(f"{ROOT}/documents/").status_code == 200
    body = new_document(own)
    reply = browser.post(f"{ROOT}/documents/", body, content_type="application/json")
    assert reply.status_code == 403
    token = "a" * 32
    browser.cookies["csrftoken"] = token
    reply = browser.post(f"{ROOT}/documents/", body, content_type="application/json", headers={"x-csrftoken": token})
    assert reply.status_code == 201, reply.content


def test_no_password_is_taken(own: Rows) -> None:
    user = make_member(own, "knowledge.view_document")
    user.set_password("correct horse battery")
    user.save()
    login = "Basic c3RhZmY6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"
    assert Program(authorization=login).get("/documents/").status_code == 401


# --- pages ---


@pytest.fixture
def reader() -> Program:
    return Program(UserFactory(permissions=["knowledge.view_document", "faqs.view_faq"]))


def read_all(program: Program, address: str) -> list[Any]:
    rows = []
    while address:
        page = program.get(address).json()
        rows += page["results"]
        address = page["next"]
    return rows


@pytest.mark.parametrize("ordering", ["updated_at", "-updated_at", "title", "-title", "id", "-id"])
def test_all_pages_together_have_each_row_once_and_in_order(reader: Program, ordering: str) -> None:
    collection = DocumentFactory().collection
    documents = DocumentFactory.create_batch(11, collection=collection, title="The same")
    Document.objects.filter(pk__in=[row.pk for row in documents[3:]]).update(updated_at=documents[0].updated_at)
    listed = [row["id"] for row in read_all(reader, f"/documents/?size=2&ordering={ordering}")]
    name = ordering.removeprefix("-")
    expected = list(Document.objects.order_by(name, "pk").values_list("pk", flat=True))
    assert listed == (expected[::-1] if ordering.startswith("-") else expected)


def test_pages_have_each_row_once_if_more_than_a_thousand_have_the_same_time(reader: Program) -> None:
    first = DocumentFactory()
    rows = [
        Document(collection=first.collection, url=f"https://u.example/{number}", title="Same", text="Same.")
        for number in range(1_250)
    ]
    Document.objects.bulk_create(rows)
    Document.objects.update(updated_at=first.updated_at)
    listed = [row["id"] for row in read_all(reader, "/documents/?size=200&ordering=updated_at")]
    assert listed == sorted(Document.objects.values_list("pk", flat=True))


def test_a_row_that_goes_meanwhile_shifts_no_other(reader: Program) -> None:
    documents = DocumentFactory.create_batch(6)
    first = reader.get("/documents/?size=2&ordering=id").json()
    documents[0].delete()
    rest = read_all(reader, first["next"])
    assert [row["id"] for row in rest] == [row.pk for row in documents[2:]]


@pytest.mark.parametrize("size", ["-1", "0", "201", "1000000000", "many", "", "1.5", "²"])
def test_a_size_that_is_none_is_refused(reader: Program, size: str) -> None:
    reply = reader.get(f"/documents/?size={size}")
    assert reply.status_code == 400
    assert reply.json()["errors"] == [{"field": "size", "message": "Give a whole number from 1 to 200."}]


@pytest.mark.parametrize("cursor", ["1", "x:y:z", "é", "WyJpZCJd:1:2"])
def test_a_made_up_cursor_is_refused(reader: Program, cursor: str) -> None:
    reply = reader.get(f"/documents/?cursor={cursor}")
    assert reply.json()["errors"][0]["field"] == "cursor"


def test_a_cursor_belongs_to_its_order(reader: Program) -> None:
    DocumentFactory.create_batch(3)
    address = reader.get("/documents/?size=1&ordering=id").json()["next"]
    reply = reader.get(address.replace("ordering=id", "ordering=title"))
    assert reply.json()["errors"][0]["field"] == "cursor"


def test_other_orders_and_filters_than_there_are_are_refused(reader: Program) -> None:
    for query, field in {
        "ordering=collection__teams": "ordering",
        "ordering=": "ordering",
        "colection=site": "colection",
        "status=": "status",
    }.items():
        reply = reader.get(f"/documents/?{query}")
        assert reply.status_code == 400
        assert reply.json()["errors"][0]["field"] == field


LISTS = [
    name
    for name, operation in OPERATIONS.items()
    if operation.method == "get" and not operation.is_detail and operation.name not in NO_ROWS
]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(
    name: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    operation = OPERATIONS[name]
    teams = [rows_of_team("Law")]
    program = Program(UserFactory(permissions=operation.needs))
    with django_assert_max_num_queries(12) as few:
        call(program, operation, teams[0])
    count = len(few)
    teams += [rows_of_team(f"Team {number}") for number in range(4)]
    with django_assert_max_num_queries(count):
        assert len(call(program, operation, teams[0]).json()["results"]) >= 5


# --- limits ---


def test_too_many_requests_are_refused_until_the_minute_ends(settings: Settings, reader: Program) -> None:
    settings.STAFF_API_PER_MINUTE = 2
    statuses = [reader.get("/documents/").status_code for _ in range(3)]
    assert 429 in statuses or statuses == [200, 200, 200]  # a minute may have ended in between
    reply = [reader.get("/documents/") for _ in range(3)][-1]
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= 60
    assert_problem(reply, "too_many_requests")


def test_who_is_refused_is_counted_by_address(settings: Settings) -> None:
    settings.STAFF_API_PER_MINUTE_AND_ADDRESS = 2
    replies = [Program(token="guessed").get("/documents/") for _ in range(6)]
    assert {reply.status_code for reply in replies} == {401, 429}


# --- errors ---


def assert_problem(reply: Any, code: str) -> None:
    assert reply["Content-Type"] == "application/problem+json"
    body = reply.json()
    assert {"type", "title", "status", "detail", "code"} <= set(body)
    assert (body["status"], body["code"]) == (reply.status_code, code)


def test_no_such_address_method_or_type_is_a_problem_too(reader: Program) -> None:
    assert_problem(reader.get("/nothing/"), "not_found")
    assert_problem(reader.get("/documents"), "not_found")
    assert_problem(reader.get("/documents/99999999999999999/"), "not_found")
    assert_problem(Program().get("/nothing/"), "token_required")
    reply = reader.call("delete", "/documents/")
    assert_problem(reply, "method_not_allowed")
    assert "GET" in reply["Allow"]
    assert reader.call("options", "/documents/").status_code == 405
    wants_page = Program(UserFactory(), accept="text/html")
    assert_problem(wants_page.get("/documents/"), "not_acceptable")


@pytest.mark.parametrize(
    "raw", [b"{", b"\xff", b'{"title": "\\u0000"}', b'{"title": "\\ud800"}', b'{"n": NaN}', b"[" * 100_000]
)
def test_what_is_no_json_is_told(own: Rows, raw: bytes) -> None:
    program = Program(make_member(own, "knowledge.add_document"))
    reply = program.client.post(f"{ROOT}/documents/", raw, content_type="application/json", headers=program.headers)
    assert reply.status_code == 400
    assert_problem(reply, "invalid")


def test_other_bodies_than_json_and_too_long_ones_are_told(own: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(make_member(own, "knowledge.add_document"))
    reply = program.client.post(f"{ROOT}/documents/", {"title": "A form"}, headers=program.headers)
    assert_problem(reply, "unsupported_media_type")
    monkeypatch.setattr("core.rest.parsers.MOST_BYTES", 100)
    reply = program.post("/documents/", {**new_document(own), "text": "x" * 100})
    assert_problem(reply, "too_large")


def test_a_database_that_is_away_is_told(reader: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "core.rest.pagination.KeysetPagination.paginate_queryset", Mock(side_effect=OperationalError("gone"))
    )
    reply = reader.get("/documents/")
    assert_problem(reply, "unavailable")
    assert reply["Retry-After"]


def test_more_parameters_than_are_read_are_told(reader: Program, settings: Settings) -> None:
    query = "&".join(f"a{number}=1" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))
    reply = reader.get(f"/documents/?{query}")
    assert reply.status_code == 400
    assert_problem(reply, "invalid")


def test_a_mistake_of_ours_tells_nothing_of_itself(reader: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rest.pagination.KeysetPagination.paginate_queryset", Mock(side_effect=KeyError("secret")))
    reply = reader.get("/documents/")
    assert_problem(reply, "internal_server_error")
    assert "secret" not in reply.content.decode()


def test_each_wrong_field_is_named_and_nothing_is_saved(own: Rows) -> None:
    program = Program(make_member(own, "knowledge.add_document", "faqs.add_faq"))
    reply = program.post("/documents/", {"collection": own.collection.slug, "url": "ftp://x", "audience": ["all"]})
    fields = {error["field"] for error in reply.json()["errors"]}
    assert {"title", "text", "url"} <= fields
    body = {"question": "What?", "collection": own.collection.slug, "sources": [{"document": "one"}]}
    assert program.post("/faqs/", body).json()["errors"][0]["field"] == "sources.0.document"
    assert Document.objects.count() == 1


def test_errors_are_told_in_the_language_that_is_asked_for() -> None:
    assert re.search(r"Token|Anmelde", Program(**{"accept-language": "de"}).get("/documents/").json()["detail"])


# --- one transaction a request ---


def test_what_fails_late_leaves_nothing_behind(
    own: Rows,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr("faqs.rest.serializers.index_saved_faq", Mock(side_effect=OperationalError("gone")))
    user = make_member(own, "faqs.add_faq")
    with django_capture_on_commit_callbacks() as queued:
        reply = Program(user).post("/faqs/", {"question": "What now?", "collection": own.collection.slug})
    assert reply.status_code == 503
    assert not queued
    assert not own.collection.faqs.filter(question="What now?").exists()
    assert not LogEntry.objects.filter(user=user).exists()


def test_translations_and_faqs_of_data_sets_stay_out(reader: Program) -> None:
    page = DocumentFactory()
    page.collection.for_evaluation = True
    page.collection.save()
    FAQFactory(documents=[page])
    assert reader.get("/documents/").json()["results"] == reader.get("/faqs/").json()["results"] == []
    assert reader.get(f"/documents/{page.pk}/").status_code == 404
