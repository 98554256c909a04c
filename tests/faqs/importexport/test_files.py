"""Importing files of FAQs with a look at what they would change, and exporting the list."""

import io
import json
import time
from typing import Any

import openpyxl
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from faqs.importexport.files import BadTable, read_table
from faqs.importexport.resource import FAQResource
from faqs.models import FAQ, Category
from faqs.services import import_planned
from faqs.tasks import index_faq, index_pending_faqs
from tests.factories import CategoryFactory, CollectionFactory, DocumentFactory, FAQFactory, UserFactory

IMPORT = "admin:faqs_faq_import"
A, B = "https://www.uni.example/a", "https://www.uni.example/b"


@pytest.fixture(autouse=True)
def _nothing_kept() -> Any:
    yield
    cache.clear()


def check(client: Client, name: str, content: bytes | str) -> HttpResponse:
    body = content if isinstance(content, bytes) else content.encode()
    return client.post(reverse(IMPORT), {"file": SimpleUploadedFile(name, body)})


def confirm(client: Client, page: Any) -> HttpResponse:
    kept = {name: page.context[name] for name in ("file_key", "fingerprint")}
    return client.post(reverse(IMPORT), kept | {"confirmed": "1"}, follow=True)


def problems(page: Any, kind: str = "wrong") -> list[tuple[int, str, str]]:
    """List the remarks on rows that are left out, or of the kind `checks` on imported ones."""
    return [
        (each["row"].line, column, message)
        for each in page.context.get(kind, [])
        for column, message in each["remarks"]
    ]


def workbook(*rows: list[Any]) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(stream)
    return stream.getvalue()


# --- what a file says ---


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("faqs.csv", b"question,sources\nHow much?,\n"),
        ("faqs.csv", "\ufeffquestion;sources\r\nHow much?;\r\n".encode()),
        ("faqs.csv", "question\tsources\nHow much?\t\n".encode("utf-16")),
        ("faqs.txt", b"Question ; sources\nHow much?;\n"),
        ("faqs.xlsx", workbook(["question", "sources"], ["How much?", None], [None, None])),
        ("faqs.json", b'[{"question": "How much?", "sources": []}]'),
    ],
)
def test_a_table_is_read_from_what_spreadsheets_write(name: str, content: bytes) -> None:
    table = read_table(name, content)
    assert table.columns == ("question", "sources")
    assert [row.cells["question"] for row in table.rows] == ["How much?"]


def test_what_the_database_cannot_hold_is_no_part_of_a_cell() -> None:
    [row] = read_table("a.json", b'[{"question": "Half\\ud800 a\\u0000?", "phrasings": ["\\udfff"]}]').rows
    assert row.cells == {"question": "Half? a?", "phrasings": ["?"]}


def test_umlauts_of_an_old_excel_are_read() -> None:
    assert read_table("a.csv", "question\nWie groß?\n".encode("cp1252")).rows[0].cells["question"] == "Wie groß?"


def test_lines_are_counted_where_a_text_has_several() -> None:
    table = read_table("a.csv", b'question,phrasings\n"One?","a\nb"\nTwo?,\n\nThree?,\n')
    assert [(row.line, row.cells["question"]) for row in table.rows] == [(2, "One?"), (4, "Two?"), (6, "Three?")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "empty"),
        ("a.csv", b" \n ", "empty"),
        ("a.csv", b"question\n", "no rows"),
        ("a.pdf", b"%PDF", "ends in .xlsx, .csv or .json"),
        ("a.csv", b"PK\x03\x04...", "no CSV"),
        ("a.xlsx", b"PK\x03\x04...", "cannot be opened"),
        ("a.xlsx", b"question", "cannot be opened"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1", "old Excel"),
        ("a.json", b"{", "no valid JSON"),
        ("a.json", b'{"question": "So?"}', "must hold a list"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.csv", b"question,question\na,b\n", "two columns"),
        ("a.csv", b"question,,id\na,b,c\n", "Column 2 has no heading"),
        ("a.csv", b'question\n"' + b"x" * 200_000, "cannot be read"),
        ("a.csv", b"question\n" + b"a\n" * 10_001, "more than 10,000 rows"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, content: bytes, said: str) -> None:
    with pytest.raises(BadTable, match=said):
        read_table(name, content)


# --- what importing it would change ---


@pytest.mark.django_db
def test_a_file_is_shown_and_written_only_when_confirmed(admin_client: Client) -> None:
    DocumentFactory(url=A)
    DocumentFactory(url=B)
    changed = FAQFactory(question="Old answer?", reference_answer="Four.", phrasings=["So?"])
    FAQFactory(question="Unchanged?")
    rows = [
        {
            "question": "New?",
            "phrasings": ["Newer?", "Newest?"],
            "sources": [B, A],
            "category": "Fees",
            "language": "de",
            "status": "published",
            "valid_until": "31.03.2031",
            "id": "n1",
        },
        {"question": "Old answer?", "reference_answer": "Five."},
        {"question": "Unchanged?"},
        {"question": "Wrong?", "status": "published"},
    ]
    page = check(admin_client, "faqs.json", json.dumps(rows))
    assert page.context["counts"] == {"wrong": 1, "new": 1, "changed": 1, "unchanged": 1}
    assert '<span class="diff__words">Five</span>' in page.content.decode()
    assert FAQ.objects.count() == 2
    assert not Category.objects.exists()
    said = confirm(admin_client, page).content.decode()
    assert "1 FAQ is new. 1 FAQ was changed. 1 wrong row was left out." in said
    new = FAQ.objects.get(external_id="n1")
    assert (new.question, new.status, new.language, new.category.name) == ("New?", "published", "de", "Fees")
    assert new.valid_until.isoformat() == "2031-03-31"
    assert list(new.phrasings.values_list("text", flat=True)) == ["Newer?", "Newest?"]
    assert list(new.sources.values_list("document__url", flat=True)) == [B, A]
    changed.refresh_from_db()
    assert changed.reference_answer == "Five."
    assert [version.reason for version in changed.versions.all()] == ["import", "found"]
    assert [phrasing.text for phrasing in changed.phrasings.all()] == ["So?"]
    assert LogEntry.objects.count() == 2
    assert not FAQ.objects.filter(question="Wrong?").exists()


@pytest.mark.django_db
def test_each_wrong_row_is_named_with_its_line_its_column_and_what_to_do(admin_client: Client) -> None:
    DocumentFactory(url=A, status="archived")
    FAQFactory(external_id="taken", question="Taken?")
    FAQFactory.create_batch(2, question="Twice?")
    text = (
        "number;id;question;sources;status;valid_from;valid_until;language;collection;translation_of\n"
        ";;;;;;;;;\n"
        ";x;;;;;;;;\n"
        f";;One?;{A};;;;;;\n"
        ";;Two?;;published;;;;;\n"
        ";;Three?;;live;;;;;\n"
        ";;Four?;;;soon;;;;\n"
        ";;Five?;;;2026-02-01;2026-01-01;;;\n"
        ";;Six?;;;;;english;;\n"
        ";;Seven?;;;;;;nowhere;\n"
        ";;Eight?;;;;;;;nobody\n"
        "999;;Nine?;;;;;;;\n"
        ";;Twice?;;;;;;;\n"
        ";;Ten?;;;;;;;\n"
        ";;Ten?;;;;;;;\n"
        f";;{'x' * 1001};;;;;;;\n"
        ";;Eleven?;;;;;;;;surplus\n"
    )
    page = check(admin_client, "faqs.csv", text)
    assert [(line, column) for line, column, _message in problems(page)] == [
        (3, "question"),
        (5, "sources"),
        (6, "status"),
        (7, "valid_from"),
        (8, "valid_until"),
        (9, "language"),
        (10, "collection"),
        (11, "translation_of"),
        (12, "number"),
        (13, "number"),
        (15, "question"),
        (16, "question"),
        (17, ""),
    ]
    shown = page.content.decode()
    assert (4, "sources") in [(line, column) for line, column, _message in problems(page, "checks")]
    assert f"There is no page with the address {A}: import the page first, or correct the address." in shown
    assert "Line 14 is about the same FAQ already" in shown
    assert "write it as 2026-10-01 or 01.10.2026" in shown


@pytest.mark.django_db
def test_an_unknown_column_or_a_missing_one_is_said_of_the_whole_file(admin_client: Client) -> None:
    assert "The column “frage” is not known" in check(admin_client, "a.csv", "Frage\nSo?\n").content.decode()
    assert "The column “question” is missing" in check(admin_client, "a.csv", "id\n1\n").content.decode()
    assert "This field is required" in admin_client.post(reverse(IMPORT)).content.decode()


@pytest.mark.django_db
def test_what_changed_since_the_look_is_shown_once_more_and_nothing_is_written(admin_client: Client) -> None:
    faq = FAQFactory(question="How much?", reference_answer="Four.")
    page = check(admin_client, "a.csv", "question,reference_answer\nHow much?,Five.\n")
    FAQ.objects.filter(pk=faq.pk).update(reference_answer="Six.")
    again = confirm(admin_client, page)
    assert "Something changed since the file was checked" in again.content.decode()
    faq.refresh_from_db()
    assert faq.reference_answer == "Six."
    assert "1 FAQ was changed." in confirm(admin_client, again).content.decode()


@pytest.mark.django_db
def test_another_s_file_cannot_be_confirmed(admin_client: Client, client: Client) -> None:
    page = check(admin_client, "a.csv", "question\nSo?\n")
    client.force_login(UserFactory(is_superuser=True))
    assert "no longer kept" in confirm(client, page).content.decode()
    assert not FAQ.objects.exists()


@pytest.mark.django_db
def test_translations_are_linked_within_a_file_and_to_what_is_there(admin_client: Client) -> None:
    there = FAQFactory(question="There?", language="en")
    rows = [
        {"question": "Da?", "language": "de", "translation_of": str(there.pk)},
        {"question": "Neu?", "language": "de", "translation_of": "n1"},
        {"question": "New?", "language": "en", "id": "n1"},
        {"question": "Nouveau?", "language": "fr", "translation_of": "Neu?"},
        {"question": "Auch neu?", "language": "de", "translation_of": "New?"},
    ]
    page = check(admin_client, "a.json", json.dumps(rows))
    assert [(line, message.split(":")[0]) for line, _column, message in problems(page)] == [
        (4, "This FAQ is a translation itself"),
        (5, "There is a translation into this language already."),
    ]
    confirm(admin_client, page)
    found = dict(FAQ.objects.filter(translation_of__isnull=False).values_list("question", "translation_of__question"))
    assert found == {"Da?": "There?", "Neu?": "New?"}


@pytest.mark.django_db
def test_a_team_imports_into_its_own_and_publishes_nothing_without_the_permission(client: Client) -> None:
    team, own, foreign = Group.objects.create(name="F"), CollectionFactory(slug="own"), CollectionFactory(slug="other")
    own.teams.add(team)
    DocumentFactory(url=A, collection=foreign)
    DocumentFactory(url=B, collection=own)
    theirs = FAQFactory(question="Theirs?", external_id="theirs", collection=foreign)
    linked = FAQFactory(question="Linked?", collection=own, documents=[foreign.documents.get()])
    live = FAQFactory(question="Live?", collection=own, status="published", documents=[own.documents.get()])
    client.force_login(UserFactory(permissions=["faqs.add_faq", "faqs.change_faq", "faqs.view_faq"], teams=[team]))
    text = (
        "number,id,question,sources,status,collection,category\n"
        f",,One?,{B},in_review,own,\n"
        f",,Two?,{A},,own,\n"
        f",,Three?,,,,\n"
        f",,Four?,,,other,\n"
        f",,Five?,{B},published,own,\n"
        f"{theirs.pk},,Six?,,,own,\n"
        f",theirs,Seven?,,,own,\n"
        f",,Live?,{B},,own,\n"
        f"{linked.pk},,Linked too?,{A},,own,\n"
        f",,Eight?,,,own,Unheard of\n"
    )
    page = check(client, "a.csv", text)
    assert [(line, column) for line, column, _message in problems(page)] == [
        (4, "collection"),
        (5, "collection"),
        (6, "status"),
        (7, "number"),
        (8, "id"),
        (9, "status"),
        (11, "category"),
    ]
    confirm(client, page)
    assert set(FAQ.objects.values_list("question", "status")) == {
        ("One?", "in_review"),
        ("Two?", "draft"),
        ("Linked too?", "draft"),
        ("Theirs?", "draft"),
        ("Live?", "published"),
    }
    live.refresh_from_db()
    assert live.sources.count() == 1


@pytest.mark.django_db
def test_who_may_not_add_or_change_imports_nothing(client: Client) -> None:
    client.force_login(UserFactory(permissions=["faqs.view_faq", "faqs.add_faq"]))
    assert client.get(reverse(IMPORT)).status_code == 403
    assert check(client, "a.csv", "question\nSo?\n").status_code == 403


@pytest.mark.django_db
def test_only_what_changed_is_queued_and_many_by_one_task(
    admin_user: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued: list[Any] = []
    monkeypatch.setattr(index_faq, "delay", queued.append)
    monkeypatch.setattr(index_pending_faqs, "delay", lambda: queued.append("all"))
    faq = FAQFactory(question="There?")
    for text in ("question\nThere?\nNew?\n", "question\n" + "".join(f"Matter {n} of many?\n" for n in range(60))):
        with django_capture_on_commit_callbacks(execute=True):
            planned = plan(admin_user, "a.csv", text.encode())
            import_planned(planned=planned, by=admin_user)
    assert queued == [FAQ.objects.get(question="New?").pk, "all"]
    assert faq.pk not in queued


def plan(user: Any, name: str, content: bytes) -> Any:
    return FAQResource.for_staff(user).plan(read_table(name, content))


@pytest.mark.slow
@pytest.mark.django_db
def test_5000_rows_take_seconds_and_as_many_statements_as_50_do_in_batches(admin_user: Any) -> None:
    DocumentFactory(url=A)
    counts = []
    for number in (50, 5_000):
        rows = [
            {"id": f"{number}-{n}", "question": f"Matter {n} of {number}?", "phrasings": [f"So {n}?"], "sources": [A]}
            for n in range(number)
        ]
        started = time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            import_planned(planned=plan(admin_user, "a.json", json.dumps(rows).encode()), by=admin_user)
        counts.append(len(queries))
        seconds = time.perf_counter() - started
    assert FAQ.objects.count() == 5_050
    assert counts[1] < counts[0] + 60
    print(f"5,000 rows in {seconds:.1f} s, {counts} statements")


# --- the list as a file ---


def exported(client: Client, kind: str, query: str = "") -> bytes:
    page = client.get(reverse("admin:faqs_faq_download", args=[kind]) + query)
    assert page.status_code == 200
    assert "attachment" in page["Content-Disposition"]
    return page.content


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["xlsx", "csv", "json"])
def test_what_is_exported_can_be_imported_and_changes_nothing(admin_client: Client, kind: str) -> None:
    documents = [DocumentFactory(url=A), DocumentFactory(url=B)]
    FAQFactory(
        question="=1+1?",
        phrasings=["+2", "'=3", "-4\u000b5", ";=6", "a; @b", 'c;"=7', "＝8"],
        documents=documents[::-1],
        category=CategoryFactory(name="@Fees"),
        collection=CollectionFactory(),
        reference_answer='Five;\n"six", seven\n- eight\n\n\'- nine;=1+1\n\t-10',
        valid_from="2026-01-01",
        external_id="7",
    )
    FAQFactory(question="Wie viel?", language="de", translation_of=FAQ.objects.get())
    page = check(admin_client, f"a.{kind}", exported(admin_client, kind))
    assert problems(page) == []
    changed = [each.planned for each in page.context["changed"]]
    assert page.context["counts"]["unchanged"] == (2 if kind == "json" else 1), changed
    assert all(each.after["phrasings"][:3] == ["+2", "'=3", "-45"] for each in changed)  # a sign that no cell may hold


@pytest.mark.django_db
def test_no_cell_of_an_export_is_a_formula(admin_client: Client) -> None:
    FAQFactory(question="=HYPERLINK(1)", phrasings=["@SUM(1)"], reference_answer="+1;=1+1")
    book = openpyxl.load_workbook(io.BytesIO(exported(admin_client, "xlsx")))
    assert all(cell.data_type != "f" for row in book.active for cell in row)
    text = exported(admin_client, "csv").decode("utf-8-sig")
    assert "'=HYPERLINK(1)" in text
    assert "'+1;'=1+1" in text


@pytest.mark.django_db
def test_the_export_is_the_filtered_list(admin_client: Client) -> None:
    FAQFactory(question="Draft?")
    FAQFactory(question="Retired?", status="retired")
    query = "?status=retired"
    found = json.loads(exported(admin_client, "json", query))
    assert [each["question"] for each in found] == ["Retired?"]
    assert "1 FAQ" in admin_client.get(reverse("admin:faqs_faq_export") + query).content.decode()
    assert [each["question"] for each in json.loads(exported(admin_client, "json", "?q=raf"))] == ["Draft?"]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["xlsx", "csv", "json"])
def test_the_template_has_every_column_and_is_read(admin_client: Client, kind: str) -> None:
    page = admin_client.get(reverse("admin:faqs_faq_import_template", args=[kind]))
    table = read_table(f"a.{kind}", page.content)
    assert len(table.columns) == 18
    assert len(table.rows) == 1


@pytest.mark.django_db
def test_exporting_takes_as_many_queries_for_60_as_for_3(admin_client: Client) -> None:
    document, counts = DocumentFactory(), []
    for more in (3, 57):
        FAQFactory.create_batch(more, phrasings=["So?"], documents=[document])
        with CaptureQueriesContext(connection) as queries:
            exported(admin_client, "csv")
        counts.append(len(queries))
    assert counts[0] == counts[1]


NONSENSE = [
    *("?format=csv", "?nosuch=1", "?status__gte=x", "?o=99", "?o=-", "?p=-1", "?p=abc", "?all=x", "?q=%00", "?q=%ff"),
    *("?id__exact=99999999999999999999999", "?id__exact=%00", "?id__in=a,b", "?id__lt=1e400", "?id__range=1", "?id=x"),
    *("?status__year=0", "?created_at__year=99999", "?question__regex=(((", "?_to_field=question", "?_popup=1", "?e=1"),
    *("?category__id__exact=abc", "?category__id__exact=%00", "?collection=%00", "?language=%00", "?%00=1"),
    *("?valid_until__gte=x", "?valid_until__year=0", "?status__isnull=maybe", "?category__id__exact=" + "9" * 30),
    *(
        "?updated_at__day=99&updated_at__month=99&updated_at__year=99999",
        "?status=%ed%a0%80",
        "?q=" + "%20".join(f"a{n}" for n in range(500)),
    ),
]


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("query", NONSENSE)
def test_an_address_of_nonsense_is_no_error_of_ours(admin_client: Client, query: str) -> None:
    FAQFactory(question="So?")
    admin_client.raise_request_exception = False
    for name, arguments in (
        ("faqs_faq_export", []),
        *(("faqs_faq_download", [kind]) for kind in ("csv", "xlsx", "json", "nonsense")),
        *(("faqs_faq_import_template", [kind]) for kind in ("csv", "nonsense")),
        ("faqs_faq_import", []),
    ):
        for method in ("get", "head", "post", "put", "delete"):
            page = getattr(admin_client, method)(reverse(f"admin:{name}", args=arguments) + query)
            assert page.status_code < 500, (method, name, arguments)


@pytest.mark.django_db
def test_filters_that_cannot_be_read_lead_back_to_the_list(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:faqs_faq_export") + "?format=csv", follow=True)
    assert page.redirect_chain == [(reverse("admin:faqs_faq_changelist"), 302)]
    assert "The filters in this address cannot be read" in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "\x00", "a b\n", "x" * 5_000, "ü"])
def test_a_file_that_nobody_chose_cannot_be_confirmed(admin_client: Client, key: str) -> None:
    page = admin_client.post(reverse(IMPORT), {"confirmed": "1", "file_key": key, "fingerprint": key}, follow=True)
    assert "no longer kept" in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "row",
    [
        {"question": {"a": 1}, "phrasings": {"a": 1}, "sources": [[1]]},
        *({"question": "a", name: ["b"]} for name in FAQResource.fields if name != "question"),
        {"question": ["a"]},
        {"question": "a", "number": 10**30},
        {"question": "a", "number": "²"},
        {"question": "a", "valid_from": "0000-00-00", "valid_until": "99999-01-01"},
        {"question": "a", "id": "x" * 5_000, "category": "x" * 5_000, "collection": "x" * 5_000},
    ],
)
def test_a_row_of_nonsense_is_no_error_of_ours(admin_client: Client, row: dict[str, Any]) -> None:
    page = check(admin_client, "a.json", json.dumps([row]))
    assert page.status_code == 200
    if "file_key" in page.context:
        assert confirm(admin_client, page).status_code == 200
