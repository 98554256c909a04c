"""Courses: what their records become, how modules of one integrated course know each other, and who may say so."""

import json
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import example, given
from hypothesis import strategies as st

from knowledge.chunking.chunker import cut
from knowledge.courses.codes import Codes, mentions
from knowledge.courses.markdown import render_course
from knowledge.courses.reader import BadFile, read_courses
from knowledge.models import Collection, Course, Document, IndexChange, Passage
from knowledge.services.documents import delete_document, save_course, set_document_status
from knowledge.tasks import index_document
from tests.factories import CollectionFactory, CourseFactory, DocumentFactory, UserFactory
from tests.sent import as_sent

HEADINGS = ["Identity", "Contents", "Objectives", "Requirements and assessment"]
STATISTICS = [
    {"code": "EC-121", "name": "Description", "url": "https://www.uni.example/ec-121", "general_name": "Statistics"},
    {"code": "EC-122", "name": "Inference", "url": "https://www.uni.example/ec-122", "general_name": "STATISTICS "},
]
PROGRAMMING = {"code": "CS-101", "name": "Programming", "url": "https://www.uni.example/cs-101"}
ALGORITHMS = {
    "code": "CS-102",
    "name": "Algorithms",
    "url": "https://www.uni.example/cs-102",
    "prerequisites": "CS-101 (passed)",
}


def write(path: Path, *courses: Any) -> Path:
    path.write_text(json.dumps(courses), encoding="utf-8")
    return path


def run(path: Path, **options: Any) -> tuple[str, list[str]]:
    """Run the command and return (its output, its errors)."""
    out, err = StringIO(), StringIO()
    try:
        call_command("import_courses", str(path), stdout=out, stderr=err, **options)
    except CommandError as error:
        return f"error: {error}", err.getvalue().splitlines()
    return out.getvalue().strip(), err.getvalue().splitlines()


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., str]:
    """Import courses and return the output."""
    return lambda *courses, **options: run(write(tmp_path / "courses.json", *courses), **options)[0]


def read_text(code: str) -> str:
    return Document.objects.get(course__code=code).text


def section(text: str, heading: str) -> str:
    return re.split(r"^## .+$", text, flags=re.MULTILINE)[
        re.findall(r"^## (.+)$", text, re.MULTILINE).index(heading) + 1
    ]


def state() -> list[Any]:
    """Return everything that an import could change, except times."""
    documents = Document.objects.order_by("pk").values("pk", "url", "title", "text", "metadata", "indexed__indexed_at")
    courses = Course.objects.order_by("pk", "required_courses").values()
    links = Course.objects.order_by("pk", "required_courses").values("pk", "required_courses")
    return [*documents, *courses, *links, *Passage.objects.order_by("pk").values("pk", "text", "input_hash")]


def course(**values: Any) -> Course:
    language = values.pop("language", "en")
    return Course(**{"code": "CS-101", "name": "Programming", "document": Document(language=language), **values})


# --- rendering ---


def test_a_course_has_four_sections_and_each_begins_with_its_code_and_name() -> None:
    text = render_course(
        course(
            year=2,
            is_mandatory=False,
            ects=Decimal("7.5"),
            field="Informatics",
            prerequisites="none",
            assessment="Written examination.",
            contents="- Loops\n- Lists",
            objectives="Students can write programs.",
            programme="| Week | Topic |\n|---|---|\n| 1 | Loops |",
        ),
        [],
    )
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    for heading in HEADINGS:
        assert section(text, heading).strip().startswith("**CS-101 Programming**")
    assert (
        "- Year of study: 2\n- Mandatory: no, elective\n- ECTS credits: 7.5\n- Field of research: Informatics" in text
    )
    assert "**CS-101 Programming** – Students can write programs." in text
    assert "**Detailed programme of CS-101 Programming:**\n\n| Week | Topic |" in text
    assert "- Prerequisites: none\n- Assessment: Written examination." in text


def test_a_german_document_has_german_headings() -> None:
    text = render_course(course(language="de-DE", ects=Decimal("7.5"), is_mandatory=True), [])
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
        "Steckbrief",
        "Inhalte",
        "Lernziele",
        "Voraussetzungen und Prüfung",
    ]
    assert "- Pflichtmodul: ja\n- ECTS-Punkte: 7,5" in text


def test_empty_fields_are_left_out_and_nothing_is_said_of_them() -> None:
    text = render_course(course(), [])
    assert [part.strip() for part in re.split(r"^## .+$", text, flags=re.MULTILINE)][1:] == [
        "**CS-101 Programming**"
    ] * 4


def test_each_module_says_that_all_of_its_integrated_course_must_be_passed() -> None:
    first, second, third = (
        course(code=f"EC-12{number}", name=name, general_name="Statistics")
        for number, name in enumerate(("Description", "Inference", "Regression"), start=1)
    )
    both = render_course(first, [second])
    for heading in ("Identity", "Requirements and assessment"):
        assert "the modules Description (EC-121) and Inference (EC-122) must both be passed." in section(both, heading)
    assert "Description (EC-121), Inference (EC-122) and Regression (EC-123) must all be passed" in render_course(
        third, [first, second]
    )
    assert "is a module of the integrated course “Statistics”" in (alone := render_course(first, []))
    assert "must" not in alone
    named_alike = course(name="Statistics", general_name="statistics")
    assert "is a module" not in render_course(named_alike, [])


def test_required_courses_are_said_with_their_names() -> None:
    required = [course(), course(code="MA-1", name="Analysis"), course(code="MA-2", name="Algebra")]
    algorithms = course(code="CS-102", name="Algorithms", prerequisites="cs 101 or MA-1 (Analysis); not MA-10")
    text = render_course(algorithms, [], required)
    assert "- Prerequisites: cs 101 Programming or MA-1 (Analysis); not MA-10" in text
    assert "- Required courses: MA-2 Algebra" in text
    compound = course(code="CS-102", name="Algorithms", prerequisites="Die CS-101-Klausur", language="de")
    assert "Die CS-101-Klausur (CS-101: Programming)" in render_course(compound, [], required[:1])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CS-101, cs 102 and CS101", ["CS-101", "cs 102", "CS101"]),
        ("CS-1011 and XCS-101 and 20 30", []),
        ("[here](https://www.uni.example/cs-101) and https://www.uni.example/cs-102", []),
        ("[CS-101](https://www.uni.example/cs-102)", ["CS-101"]),
        ("30001 takes 2030 minutes; 20 301 too", ["30001"]),
        ("ML helps, ml does not", ["ML"]),
        ("in 12 weeks", []),
        ("B.Sc. CS 101", ["CS 101"]),
    ],
)
def test_codes_are_found_in_prose(text: str, found: list[str]) -> None:
    codes = Codes.of(["CS-101", "CS-102", "30001", "ML", "12", "20301"])
    assert [text[mention.start : mention.end] for mention in mentions(text, codes)] == found


words = st.text(max_size=40) | st.lists(
    st.sampled_from(
        ["# A", "B\n===", "```", "~~~", "<!-- c", "<script>", "- d", "> # e", "| f |", "\n", "text", "    g"]
    )
).map("\n".join)


@given(
    fields=st.fixed_dictionaries(
        dict.fromkeys(("prerequisites", "assessment", "contents", "objectives", "programme"), words)
    ),
    lines=st.fixed_dictionaries(
        {name: st.text(max_size=20) for name in ("code", "name", "general_name", "field")},
    ),
    language=st.sampled_from(["en", "de"]),
)
@example({"contents": "# # *x", "objectives": "```\nx", "assessment": "a\n<!-- b"}, {"code": "#", "name": "x"}, "en")
def test_no_word_is_lost_and_every_section_stays_its_own(
    fields: dict[str, str], lines: dict[str, str], language: str
) -> None:
    record = course(**fields, **lines, language=language)
    text = render_course(record, [course(code="A-1", name="Sibling")], [course(code="B-1", name="Required")])
    found = re.findall(r"\w+", text)
    for value in (*fields.values(), *lines.values()):
        given_words = re.findall(r"\w+", value.replace("\0", ""))
        assert set(given_words) <= set(found), value
    chunks = cut(text, limit=10_000, measure=len)
    paths = list(dict.fromkeys(chunk.heading_path for chunk in chunks))
    assert len(paths) == 4
    assert all(len(path) == 1 for path in paths)


# --- files ---


@pytest.mark.django_db
@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_table_is_read_with_commas_or_semicolons(tmp_path: Path, mark: str, encoding: str) -> None:
    rows = [
        ["Code", "Title", "General course name", "Year", "Mandatory", "ECTS", "Field", "Contents", "URL", "Language"],
        [
            "CS-210",
            "Datenbanken",
            "",
            "2",
            "ja",
            '"7,5"',
            "Informatik",
            f'"SQL{mark}\nIndexe"',
            "https://u.example/a",
            "de",
        ],
        [],
        ["CS-211", "Netze", "", "", "", "", "", "", "https://u.example/b", "Deutsch"],
    ]
    path = tmp_path / "courses.csv"
    path.write_text("\r\n".join(mark.join(row) for row in rows), encoding=encoding, newline="")
    said, complaints = run(path, collection="cs")
    assert (said, complaints) == ("2 new, 0 changed, 0 unchanged; 2 indexed.", [])
    found = Course.objects.select_related("document__collection").get(code="CS-210")
    assert (found.name, found.year, found.is_mandatory, found.ects) == ("Datenbanken", 2, True, Decimal("7.5"))
    assert (found.field, found.contents) == ("Informatik", f"SQL{mark}\nIndexe")
    assert (found.document.title, found.document.url) == ("CS-210 Datenbanken", "https://u.example/a")
    assert (found.document.language, found.document.collection.slug) == ("de", "cs")
    assert Passage.objects.filter(document=found.document).count() == 4


@pytest.mark.django_db
def test_a_missing_column_is_named_once_and_nothing_is_imported(tmp_path: Path) -> None:
    table = tmp_path / "courses.csv"
    table.write_text("code;name\n1;a\n2;b\n")
    assert run(table) == ('error: courses.csv: the column "url" is missing. Nothing was imported.', [])
    said, _complaints = run(write(tmp_path / "list.json", {"url": "https://u.example/"}))
    assert said == 'error: list.json: the columns "code", "name" are missing. Nothing was imported.'
    assert not Collection.objects.exists()


@pytest.mark.django_db
def test_every_bad_row_is_named_and_none_is_imported(tmp_path: Path) -> None:
    good = {"code": "A-1", "name": "A", "url": "https://u.example/a"}
    said, complaints = run(
        write(
            tmp_path / "courses.json",
            good,
            {**good, "code": "A-2"},
            {**good, "url": "https://u.example/c"},
            {"code": "", "name": "x" * 301, "url": "ftp://u.example", "ects": "many", "year": "first"},
            {
                **good,
                "code": "A-5",
                "url": "https://u.example/5",
                "mandatory": "perhaps",
                "language": "?",
                "ects": 2.25,
            },
            {**good, "code": "A-6", "url": "https://u.example/6", "contents": {"a": 1}, "title": "B"},
            ["A-7"],
            {**good, "code": "A-8", "url": "https://u.example/8", "objectives": "\ud800"},
        )
    )
    assert said == "error: Nothing was imported: courses.json has 14 mistakes, see above."
    assert not Course.objects.exists()
    assert not Collection.objects.exists()
    reasons = [(line.split(": ", 1)[0].rpartition(" ")[2], line.split(": ", 1)[1]) for line in complaints]
    for entry, part in [
        ("2", "the same url as entry 1"),
        ("3", "the same code as entry 1"),
        ("4", "“code” is missing"),
        ("4", "“name” has 301 characters; 300 are allowed"),
        ("4", "“url” is 'ftp://u.example'; it must begin with http:// or https://"),
        ("4", "“ects” is 'many'; it must be a number such as 6 or 7.5"),
        ("4", "“year” is 'first'; it must be a whole number such as 2"),
        ("5", "“mandatory” is 'perhaps'; it must be yes or no"),
        ("5", "“language” is '?'; it must be a code such as en or de"),
        ("5", "“ects” is '2.25'"),
        ("6", "“contents” is an object, not a text"),
        ("6", "“name” and “title” say the same twice"),
        ("7", "it is not an object"),
        ("8", "“objectives” has half a character"),
    ]:
        assert any(number == entry and reason.startswith(part) for number, reason in reasons), part


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("courses.json", b"{", "it is not JSON"),
        ("courses.json", b"{}", "it must be a list"),
        ("courses.json", b"[" * 100_000, "nested too deeply"),
        ("courses.json", b"[" + b"1" * 5_000 + b"]", "it is not JSON"),
        ("courses.csv", b"code,name,url\n\xff", "it is not UTF-8"),
        ("courses.csv", b" \n", "it is empty"),
        ("courses.csv", b'code,name,url\n1,"a,https://u.example/', "cannot be read in line 2"),
        ("courses.csv", b"code,name,url,code\n", "the column “code” is there twice"),
    ],
)
def test_a_file_that_is_none_says_why(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said, _complaints = run(path)
    assert reason in said
    assert said.endswith("Nothing was imported.")
    assert "cannot be read" in run(tmp_path / "missing.csv")[0]
    assert "letters, digits" in run(path, collection="not a slug")[0]


def test_rows_of_a_table_are_counted_as_a_spreadsheet_does(tmp_path: Path) -> None:
    path = tmp_path / "courses.csv"
    path.write_text('code,name,url\nA,"two\nlines",https://u.example/a\n\nB,b,nowhere\nC,c,https://u.example/c,more\n')
    assert [where for where, _reason in read_courses(path).problems] == ["row 4", "row 5"]


@pytest.mark.django_db
def test_a_column_that_is_no_field_is_named_and_left_out(tmp_path: Path) -> None:
    said, complaints = run(write(tmp_path / "courses.json", {**PROGRAMMING, "objectivs": "x"}))
    assert said.startswith("1 new")
    assert complaints == ['courses.json: the column "objectivs" is left out; no field of a course is called so.']


@given(st.binary(max_size=60) | st.text(alphabet='code,name,url;\n"ab[]{}:', max_size=60).map(str.encode))
def test_any_file_is_read_or_refused(content: bytes) -> None:
    for suffix in (".csv", ".json", ".txt"):
        path = Mock(suffix=suffix, open=lambda _mode: BytesIO(content))
        with suppress(BadFile):
            read = read_courses(path)
            assert len({record.url for record in read.records}) == len(read.records)


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=3))
columns = st.sampled_from(["code", "Name", "title", "url", "year", "mandatory", "ECTS", "prerequisites", "language"])


@given(st.lists(st.dictionaries(columns, values | st.just("https://u.example/"), min_size=1), max_size=3))
def test_any_entry_is_a_record_or_has_a_reason(entries: list[dict[str, Any]]) -> None:
    content = json.dumps([{**entry, "code": "A", "url": "https://u.example/"} for entry in entries]).encode()
    if not any(column.casefold() in {"name", "title"} for entry in entries for column in entry):
        return
    read = read_courses(Mock(suffix=".json", open=lambda _mode: BytesIO(content)))
    assert len(read.records) + len({where for where, _reason in read.problems}) == len(entries)


# --- importing ---


@pytest.mark.django_db
def test_importing_twice_changes_and_embeds_nothing(load: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    courses = [
        *STATISTICS,
        PROGRAMMING,
        {**ALGORITHMS, "ects": 6, "year": "1", "prerequisite_codes": ["EC-121", "X-1"]},
    ]
    assert load(*courses) == "4 new, 0 changed, 0 unchanged; 4 indexed."
    before = state()
    monkeypatch.setattr("core.inference.embeddings.MiniLMEmbedder.embed", None)
    assert load(*courses) == "0 new, 0 changed, 4 unchanged; 0 indexed."
    assert state() == before


@pytest.mark.django_db
def test_a_changed_row_changes_its_course_only(load: Callable[..., str]) -> None:
    load(*STATISTICS, PROGRAMMING)
    changed = {**PROGRAMMING, "contents": "Loops."}
    assert load(*STATISTICS, changed) == "0 new, 1 changed, 2 unchanged; 1 indexed."
    assert "Loops." in read_text("CS-101")


@pytest.mark.django_db
def test_adding_renaming_and_moving_a_module_updates_its_siblings(load: Callable[..., str]) -> None:
    first, second = STATISTICS
    load(first)
    assert "must" not in read_text("EC-121")
    assert load(second) == "1 new, 0 changed, 0 unchanged; 2 indexed."
    assert read_text("EC-121").count("Description (EC-121) and Inference (EC-122) must both be passed") == 2
    assert read_text("EC-122").count("Description (EC-121) and Inference (EC-122) must both be passed") == 2
    assert load({**second, "name": "Testing"}) == "0 new, 1 changed, 0 unchanged; 2 indexed."
    assert "Testing (EC-122)" in read_text("EC-121")
    load({**second, "general_name": "Econometrics"})
    assert "EC-122" not in read_text("EC-121")


@pytest.mark.django_db
def test_modules_of_other_collections_are_no_siblings(load: Callable[..., str]) -> None:
    load(STATISTICS[0], collection="one")
    load(STATISTICS[1], collection="two")
    assert "EC-122" not in read_text("EC-121")


@pytest.mark.django_db
def test_a_prerequisite_is_linked_whenever_it_comes(load: Callable[..., str]) -> None:
    load(ALGORITHMS, {**STATISTICS[0], "prerequisites": ["CS-101", "Analysis"]})
    assert not Course.objects.get(code="CS-102").required_courses.exists()
    assert "- Prerequisites: CS-101 (passed)" in read_text("CS-102")
    assert "- Prerequisites: CS-101, Analysis" in read_text("EC-121")
    load(PROGRAMMING)
    assert [other.code for other in Course.objects.get(code="CS-102").required_courses.all()] == ["CS-101"]
    assert "- Prerequisites: CS-101 Programming (passed)" in read_text("CS-102")
    assert "- Prerequisites: CS-101 Programming, Analysis" in read_text("EC-121")
    load({**PROGRAMMING, "name": "Coding"})
    assert "CS-101 Coding (passed)" in read_text("CS-102")
    load({**PROGRAMMING, "code": "CS-100"})
    assert not Course.objects.get(code="CS-102").required_courses.exists()
    assert "- Prerequisites: CS-101 (passed)" in read_text("CS-102")


@pytest.mark.django_db
def test_a_list_of_codes_is_linked_beside_the_text(load: Callable[..., str]) -> None:
    load({**ALGORITHMS, "prerequisites": "Motivation", "prerequisite_codes": ["cs101"]}, PROGRAMMING)
    assert "- Prerequisites: Motivation\n- Required courses: CS-101 Programming" in read_text("CS-102")


@pytest.mark.django_db
def test_a_page_of_the_same_address_becomes_the_courses_document(load: Callable[..., str]) -> None:
    page = DocumentFactory(collection=CollectionFactory(slug="default"), url=PROGRAMMING["url"], metadata={"a": 1})
    load(PROGRAMMING)
    page.refresh_from_db()
    assert (page.title, page.course.code, page.metadata) == ("CS-101 Programming", "CS-101", {"a": 1})


@pytest.mark.django_db
def test_a_course_whose_page_moved_keeps_its_document(load: Callable[..., str]) -> None:
    load(PROGRAMMING)
    before = Document.objects.get().pk
    assert load({**PROGRAMMING, "url": "https://www.uni.example/new"}).startswith("0 new, 1 changed")
    assert Document.objects.values_list("pk", "url").get() == (before, "https://www.uni.example/new")


@pytest.mark.django_db
def test_importing_pages_leaves_a_courses_document_to_its_record(load: Callable[..., str], tmp_path: Path) -> None:
    load(PROGRAMMING)
    before = state()
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps({"url": PROGRAMMING["url"], "text": "Another text."}))
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("import_documents", str(path), stdout=StringIO(), stderr=err)
    assert "is the page of the course CS-101 Programming" in err.getvalue()
    assert state() == before


@pytest.mark.django_db
def test_archiving_deleting_and_publishing_a_module_updates_its_siblings(
    load: Callable[..., str], queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    load(*STATISTICS)
    sibling, document = Document.objects.get(course__code="EC-121"), Document.objects.get(course__code="EC-122")
    for change, named in (
        (lambda: set_document_status(documents=[document], status="archived"), False),
        (lambda: set_document_status(documents=[document], status="published"), True),
        (lambda: delete_document(document=document), False),
    ):
        queued.reset_mock()
        with django_capture_on_commit_callbacks(execute=True):
            change()
        assert ("Inference (EC-122)" in read_text("EC-121")) is named
        assert sibling.pk in {call.args[0] for call in queued.call_args_list}
    assert not Course.objects.filter(code="EC-122").exists()


@pytest.mark.django_db(transaction=True)
def test_two_who_add_siblings_at_once_see_each_other(queued: Mock) -> None:
    collection = CollectionFactory()
    saved, go_on = threading.Event(), threading.Event()

    def add(code: str, wait: bool) -> None:
        with closing(connection), transaction.atomic():
            new = CourseFactory.build(code=code, general_name="Statistics", document=None)
            save_course(course=new, document=DocumentFactory.build(collection=collection))
            saved.set()
            if wait:
                go_on.wait(10)

    threads = [threading.Thread(target=add, args=args) for args in (("EC-121", True), ("EC-122", False))]
    threads[0].start()
    assert saved.wait(10)
    threads[1].start()
    threads[1].join(0.5)
    go_on.set()
    for thread in threads:
        thread.join(20)
    for code in ("EC-121", "EC-122"):
        assert "(EC-121) and " in read_text(code)
        assert "(EC-122) must both be passed" in read_text(code)


# --- admin ---

LIST = "admin:knowledge_course_changelist"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(index_document, "delay", delay)
    return delay


def change_page(course: Course) -> str:
    return reverse("admin:knowledge_course_change", args=[course.pk])


def fill_form(course: Course, required: Iterable[Course] = (), **changes: Any) -> dict[str, Any]:
    names = ("code", "name", "general_name", "field", "prerequisites", "assessment", "contents", "objectives")
    document = course.document
    return {
        **{name: getattr(course, name) for name in names},
        "programme": course.programme,
        "year": course.year or "",
        "ects": course.ects or "",
        "is_mandatory": {None: "unknown", True: "true", False: "false"}[course.is_mandatory],
        "url": document.url,
        "collection": document.collection_id,
        "language": document.language,
        "status": document.status,
        "required_courses": [other.pk for other in required],
        **changes,
    }


def codes(course: Course) -> list[str]:
    return list(course.required_courses.order_by("code").values_list("code", flat=True))


@pytest.mark.django_db
def test_the_list_takes_as_many_queries_for_40_courses_as_for_3(admin_client: Client) -> None:
    collection, counts = CollectionFactory(), []
    for more in (3, 37):
        CourseFactory.create_batch(more, document__collection=collection)
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(reverse(LIST), {"q": "module", "document__status": "published"})
        assert page.status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_a_new_course_is_rendered_and_queued_with_its_siblings_after_commit(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    collection = CollectionFactory()
    sibling = CourseFactory(code="EC-121", general_name="Statistics", document__collection=collection)
    new = CourseFactory.build(
        code="EC-122",
        name="Inference",
        general_name="statistics",
        document=DocumentFactory.build(collection=collection),
    )
    page = reverse("admin:knowledge_course_add")
    assert admin_client.get(page).status_code == 200
    with django_capture_on_commit_callbacks() as callbacks:
        answer = admin_client.post(page, fill_form(new, year=2, is_mandatory="true", ects="7.5"))
        assert answer.status_code == 302, answer.context["errors"]
        queued.assert_not_called()
    for callback in callbacks:
        callback()
    course = Course.objects.get(code="EC-122")
    assert sorted(call.args[0] for call in queued.call_args_list) == sorted([sibling.document_id, course.document_id])
    assert (course.document.title, course.document.collection) == ("EC-122 Inference", collection)
    assert "- ECTS credits: 7.5" in course.document.text
    assert "Inference (EC-122)" in read_text("EC-121")


@pytest.mark.django_db
def test_saving_links_the_courses_that_are_named_and_those_that_are_chosen(admin_client: Client, queued: Mock) -> None:
    collection = CollectionFactory()
    named, chosen, course = (
        CourseFactory(code=code, document__collection=collection) for code in ("CS-101", "MA-1", "CS-102")
    )
    admin_client.post(change_page(course), fill_form(course, [chosen], prerequisites="CS-101 passed"))
    course.refresh_from_db()
    assert codes(course) == ["CS-101", "MA-1"]
    form = admin_client.get(change_page(course)).context["adminform"].form
    assert form.initial["required_courses"] == [chosen]
    assert f"{named}" in admin_client.get(change_page(course)).content.decode()
    admin_client.post(change_page(course), fill_form(course, [chosen], prerequisites="none"))
    assert codes(course) == ["MA-1"]
    admin_client.post(change_page(named), fill_form(named, name="Programming anew"))
    assert codes(course) == ["MA-1"]


@pytest.mark.django_db
def test_what_a_file_listed_can_be_unlinked_and_what_it_waits_for_stays(
    load: Callable[..., str], admin_client: Client, queued: Mock
) -> None:
    load({**ALGORITHMS, "prerequisites": "", "prerequisite_codes": ["CS-101", "MA-1"]}, PROGRAMMING)
    course = Course.objects.get(code="CS-102")
    admin_client.post(change_page(course), fill_form(course))
    assert codes(course) == []
    load({**PROGRAMMING, "code": "MA-1", "url": "https://www.uni.example/ma-1"})
    assert codes(course) == ["MA-1"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "mistake",
    [
        {"name": ""},
        {"url": "no address"},
        {"url": "https://www.uni.example/taken"},
        {"code": "taken 1"},
        {"ects": "many"},
        {"language": ""},
    ],
)
def test_a_mistake_saves_nothing_and_keeps_what_was_typed(
    admin_client: Client, queued: Mock, mistake: dict[str, str]
) -> None:
    course = CourseFactory()
    collection = course.document.collection
    CourseFactory(code="TAKEN-1", document__collection=collection, document__url="https://www.uni.example/taken")
    page = admin_client.post(change_page(course), fill_form(course, contents="Typed at length.", **mistake))
    assert page.status_code == 200
    assert page.context["adminform"].form.errors.keys() == mistake.keys()
    assert "Typed at length." in page.content.decode()
    course.refresh_from_db()
    assert course.contents == ""
    queued.assert_not_called()


@pytest.mark.django_db
def test_a_course_of_another_collection_or_itself_cannot_be_required(admin_client: Client) -> None:
    course, other = CourseFactory(), CourseFactory()
    for required in (course, other):
        page = admin_client.post(change_page(course), fill_form(course, [required]))
        assert "required_courses" in page.context["adminform"].form.errors


@pytest.mark.django_db
def test_deleting_a_course_takes_its_document_and_its_name_from_its_siblings(
    admin_client: Client, load: Callable[..., str]
) -> None:
    load(*STATISTICS, {**ALGORITHMS, "prerequisites": "EC-122"})
    course = Course.objects.get(code="EC-122")
    url = reverse("admin:knowledge_course_delete", args=[course.pk])
    assert "Documents: 1" in admin_client.get(url).content.decode()
    admin_client.post(url, {"post": "yes"})
    assert not Document.objects.filter(pk=course.document_id).exists()
    assert IndexChange.objects.filter(document_id=course.document_id).exists()
    assert "EC-122" not in read_text("EC-121")
    assert "- Prerequisites: EC-122\n" in read_text("CS-102") + "\n"
    left = Course.objects.values_list("pk", flat=True)
    admin_client.post(reverse(LIST), {"action": "delete_selected", "_selected_action": left, "post": "yes"})
    assert not Document.objects.exists()


@pytest.mark.django_db
def test_a_courses_document_shows_its_text_but_leaves_it_to_the_record(admin_client: Client, queued: Mock) -> None:
    course = CourseFactory()
    document = course.document
    url = reverse("admin:knowledge_document_change", args=[document.pk])
    opened = admin_client.get(url)
    page = opened.content.decode()
    assert change_page(course) in page
    assert 'name="text"' not in page
    before = document.text
    admin_client.post(url, as_sent(opened, "document_form", status="draft", text="Mine.", title="Mine"))
    document.refresh_from_db()
    assert document.status == "draft"
    assert "Mine" not in document.title + document.text + before


@pytest.mark.django_db
def test_who_may_only_look_can_change_no_course(client: Client) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_course"]))
    course = CourseFactory()
    page = client.get(change_page(course))
    assert page.status_code == 200
    assert course.document.url in page.content.decode()
    assert client.post(change_page(course), fill_form(course, name="Mine")).status_code == 403


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"code,name,url\n" + b"," * 20_000, "more than 200 columns"),
        ("a.csv", ",".join(f"c{n}" for n in range(20_000)).encode(), "more than 200 columns"),
        ("a.csv", b"code,name,url\n" + b",\n" * 30_000, "more than 20,000 rows"),
        ("a.csv", b"code,name,url\n" + b"x" * 2_000_000, "Line 2 has more than 1,000,000 characters"),
        ("a.json", b"[" + b"{}," * 30_000 + b"{}]", "more than 20,000 rows"),
        ("a.csv", b"code,name,url\n" + b"x" * 60_000_000, "larger than 50 MB"),
    ],
)
def test_a_file_that_holds_too_much_says_so(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(BadFile, match=said):
        read_courses(file)
