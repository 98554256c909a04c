"""`import_documents`: what becomes a document, and what is said of what does not."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from knowledge.ingest.importer import BadRecord, collection_for, document_record, import_records, readable_title
from knowledge.models import Collection, Document, Passage
from knowledge.services.documents import save_document

URL = "https://www.uni.example/a"


def write(path: Path, *lines: object) -> Path:
    """Write a line for each value: bytes and texts as they are, everything else as JSON."""
    raw = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(raw))
    return path


def run(path: Path, **options: Any) -> tuple[str, list[str]]:
    """Run the command and return (its output, its errors)."""
    out, err = StringIO(), StringIO()
    call_command("import_documents", str(path), stdout=out, stderr=err, **options)
    return out.getvalue().strip(), [line for line in err.getvalue().splitlines() if line.startswith(path.name)]


def state() -> list[Any]:
    """Return everything that an import could change, except times."""
    documents = Document.objects.order_by("pk").values(
        "pk", "url", "title", "text", "metadata", "state_hash", "indexed__indexed_at"
    )
    return [*documents, *Passage.objects.order_by("pk").values("pk", "text", "input_hash", "generation")]


@pytest.mark.django_db
def test_good_lines_are_loaded_and_bad_ones_named_with_their_numbers(tmp_path: Path) -> None:
    good = {"url": URL, "title": "A", "text": "# A\n\nText of a."}
    path = write(
        tmp_path / "pages.jsonl",
        good,
        "{not json",
        b'{"url": "https://www.uni.example/\xff"}',
        [1, 2],
        "",
        {"text": "no address"},
        {"url": "ftp://www.uni.example/x", "text": "x"},
        {"url": "https://www.uni.example/empty", "text": " \n"},
        {"url": URL, "text": "again"},
        {"url": 5, "text": "x"},
        {"url": "https://[", "text": "x"},
        {"url": "https://www.uni.example/" + "x" * 2000, "text": "x"},
        {"url": "https://www.uni.example/t", "text": ["x"]},
        {"url": "https://www.uni.example/m", "text": "x", "metadata": "y"},
        "null",
        "[" * 100_000,
        {"url": "https://www.uni.example/last", "content": "The last one."},
    )
    said, complaints = run(path)
    assert said == "2 new, 0 changed, 0 unchanged, 14 with problems; 2 indexed."
    assert set(Document.objects.values_list("url", flat=True)) == {URL, "https://www.uni.example/last"}
    reasons = {int(line.split(": ")[0].rpartition(" ")[2]): line for line in complaints}
    assert sorted(reasons) == [2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    for line, part in {
        2: "not JSON",
        3: "not UTF-8",
        4: "a list, not an object",
        6: "“url” is missing",
        7: "must begin with http:// or https://",
        8: "no text",
        9: "the same url as line 1",
        10: '"url" is a number',
        11: "cannot be read",
        12: "2000 are allowed",
        13: '"text" is a list',
        14: '"metadata" and "og" must be objects',
        15: "null",
        16: "nested too deeply",
    }.items():
        assert part in reasons[line], reasons[line]


@pytest.mark.django_db
def test_importing_twice_changes_and_embeds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path / "pages.jsonl", *({"url": f"{URL}{n}", "title": f"A{n}", "text": f"Text {n}."} for n in range(5))
    )
    assert run(path)[0].startswith("5 new")
    before = state()
    monkeypatch.setattr("core.inference.embeddings.MiniLMEmbedder.embed", None)
    assert run(path)[0] == "0 new, 0 changed, 5 unchanged, 0 with problems; 0 indexed."
    assert state() == before


@pytest.mark.django_db
def test_a_changed_line_changes_its_document_only(tmp_path: Path) -> None:
    pages = [{"url": f"{URL}{n}", "title": f"A{n}", "text": f"Text {n}."} for n in range(3)]
    run(write(tmp_path / "pages.jsonl", *pages))
    pages[1]["text"] = "Another text."
    assert run(write(tmp_path / "pages.jsonl", *pages))[0].startswith("0 new, 1 changed, 2 unchanged")
    assert Passage.objects.get(document__url=f"{URL}1").text == "Another text."
    assert Passage.objects.count() == 3


@pytest.mark.django_db
def test_what_staff_archived_stays_archived(tmp_path: Path) -> None:
    page = {"url": URL, "title": "A", "text": "Text."}
    run(write(tmp_path / "pages.jsonl", page))
    Document.objects.update(status="archived")
    run(write(tmp_path / "pages.jsonl", {**page, "text": "New text."}))
    document = Document.objects.get()
    assert (document.status, document.text) == ("archived", "New text.")


@pytest.mark.django_db
def test_the_same_address_may_stand_in_two_collections(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.jsonl", {"url": URL, "text": "Text."})
    run(path, collection="one")
    run(path, collection="two")
    assert list(Collection.objects.values_list("slug", "documents__url")) == [("one", URL), ("two", URL)]


@pytest.mark.django_db
def test_a_file_that_is_none_and_a_name_that_is_none_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        run(tmp_path / "missing.jsonl")
    with pytest.raises(CommandError, match="letters, digits"):
        run(write(tmp_path / "pages.jsonl", {}), collection="not a slug")
    with pytest.raises(CommandError, match="Nothing was imported"):
        run(write(tmp_path / "pages.jsonl", "{", "["))
    assert run(write(tmp_path / "pages.jsonl", ""))[0].startswith("0 new")


def test_marcels_form_is_read_with_its_title_from_open_graph() -> None:
    record = document_record(
        {
            "url": URL,
            "content": "# Heading\n\nText.",
            "og": {"title": "The title", "image": "i.png"},
            "favicon": "f.ico",
        }
    )
    assert (record.title, record.text) == ("The title", "# Heading\n\nText.")
    assert record.metadata == {"og": {"title": "The title", "image": "i.png"}, "favicon": "f.ico"}


@pytest.mark.parametrize("missing", [{}, {"og": None, "favicon": None}, {"og": {}, "favicon": ""}])
def test_marcels_form_may_lack_everything_but_its_text(missing: dict[str, Any]) -> None:
    record = document_record({"url": "https://www.uni.example/student_handbook.pdf", "content": "Text.", **missing})
    assert (record.title, record.metadata) == ("student handbook", {})


def test_html_becomes_markdown_without_scripts() -> None:
    record = document_record(
        {
            "url": URL,
            "html": "<html><head><title>x</title><style>p {color: red}</style></head><body><h1>Fees</h1>"
            "<script>alert(1)</script><p>A <b>fee</b> of 5.</p><ul><li>one</li></ul></body></html>",
        }
    )
    assert record.title == "Fees"
    assert "# Fees" in record.text
    assert "A **fee** of 5." in record.text
    assert "* one" in record.text
    assert "alert" not in record.text
    assert "color" not in record.text


def test_a_title_is_found_where_there_is_one() -> None:
    def title(**values: Any) -> str:
        return document_record({"url": URL, "text": "Text.", **values}).title

    assert title(title="Given", og={"title": "Graph"}) == "Given"
    assert title(og={"og:title": "Graph"}) == "Graph"
    assert title(text="Before\n\n# First #\n\n# Second") == "First"
    assert title(url="https://www.uni.example/fees/semester_ticket.html") == "semester ticket"
    assert title(url="https://www.uni.example/") == "https://www.uni.example/"
    assert readable_title("Student%20Handbook_2023.pdf") == "Student Handbook 2023"


def test_unknown_keys_and_ids_are_kept() -> None:
    record = document_record(
        {"url": URL, "text": "x", "_id": 7, "language": "de", "faculty": "Law", "metadata": {"a": 1}}
    )
    assert (record.external_id, record.language, record.metadata) == ("7", "de", {"faculty": "Law", "a": 1})


@pytest.mark.parametrize(
    ("said", "language"),
    [("de_DE.UTF-8", "de-DE"), (" DE ", "de"), ("zh-Hans-CN", "zh-Hans"), ("German", "en"), ("", "en"), ("*", "en")],
)
@pytest.mark.usefixtures("db")
def test_a_language_is_a_tag_with_which_the_document_can_be_saved(said: str, language: str) -> None:
    assert document_record({"url": URL, "text": "x", "metadata": {"language": said}}).language == language
    record = document_record({"url": URL, "text": "x", "language": said})
    assert record.language == language
    import_records([(1, record)], collection=collection_for("default"))
    save_document(document=Document.objects.get())


values = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.lists(st.text(max_size=3), max_size=2)
keys = st.sampled_from(["url", "title", "text", "content", "html", "og", "metadata", "favicon", "id", "language", "x"])


@given(st.dictionaries(keys, values | st.just({"title": "T"}) | st.just(URL)) | values)
def test_any_value_is_a_record_or_refused(raw: object) -> None:
    try:
        record = document_record(raw)
    except BadRecord:
        return
    assert record.url.startswith("http")
    assert record.text
    assert 0 < len(record.title) <= 500
