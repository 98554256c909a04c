"""The worked examples of docs/developer.md are taken out of the page and do what the page says."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.urls import reverse

from chat.models import ProfileLeg, RetrievalProfile
from chat.pipeline.retrieval import retrievers
from knowledge.ingest.formats import readers
from knowledge.ingest.formats.registry import find_formats
from knowledge.ingest.formats.types import BadFile, Limits
from knowledge.models import Document
from knowledge.retrieval import registry
from tests.runtime.processes import ROOT

pytestmark = pytest.mark.django_db

PAGE = (ROOT / "docs" / "developer.md").read_text("utf-8")
EXAMPLES: dict[str, str] = dict(re.findall(r'^```python title="([^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
RETRIEVER = "chat/pipeline/retrieval/retrievers/title.py"
FORMAT = "knowledge/ingest/formats/readers/epub.py"


def write(example: str, folder: Path) -> str:
    """Put a file of the page into `folder` and return its module's name there."""
    path = folder / Path(example).name
    path.write_text(EXAMPLES[example], "utf-8")
    return path.stem


@pytest.fixture
def title_retriever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Provide the example's file as one of the folder's modules."""
    write(RETRIEVER, tmp_path)
    monkeypatch.setattr(retrievers, "__path__", [*retrievers.__path__, str(tmp_path)])
    retrievers.register_all()
    yield
    del registry.RETRIEVERS["title"], registry.LABELS["title"], sys.modules[f"{retrievers.__name__}.title"]


def search(profile: str, question: str) -> list[dict[str, object]]:
    out = StringIO()
    call_command("search", question, "--profile", profile, "--json", stdout=out)
    found: list[dict[str, object]] = json.loads(out.getvalue())
    return found


def test_the_retriever_needs_one_file_and_one_profile(title_retriever: None, pages: None) -> None:
    exec(EXAMPLES["manage.py shell"], {})
    first, *_others = search("with-titles", "When is the library open?")
    assert first["title"] == "Library"
    assert first["origins"] == {"dense": 1, "title": 1}


@pytest.mark.django_db(transaction=True)
def test_staff_choose_it_by_its_label_and_see_what_it_found(
    title_retriever: None, pages: None, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that a thread kept would outlive the thread, and the test database.
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    form = {
        "name": "ours",
        "fusion": "scores",
        "rerank_first": 0,
        "sources": 6,
        "threshold": 0,
        "legs-TOTAL_FORMS": 1,
        "legs-INITIAL_FORMS": 0,
        "legs-0-retriever": "title",
        "legs-0-weight": 1,
        "legs-0-k": 50,
    }
    add = reverse("admin:chat_retrievalprofile_add")
    assert "words of the title" in admin_client.get(add).content.decode()
    assert admin_client.post(add, form).status_code == 302
    assert ProfileLeg.objects.get(profile=RetrievalProfile.objects.get(name="ours")).retriever == "title"
    library = Document.objects.get(title="Library")
    asked = {"question": "When is the library open?", "profile": "ours", "document": library.pk}
    page = admin_client.get(reverse("try-question"), asked).content.decode()
    assert page.count("words of the title") >= 2
    assert page.count("Opening hours") >= 1


def test_two_retrievers_of_one_name_are_refused(title_retriever: None) -> None:
    with pytest.raises(ValueError, match="Two retrievers are called title"):
        registry.register("title", registry.RETRIEVERS["title"], label="another")


def epub(*pages: str) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for number, page in enumerate(pages):
            archive.writestr(f"{number}.xhtml", f"<html><body>{page}</body></html>")
    return buffer.getvalue()


def test_the_format_needs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(FORMAT, tmp_path)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    read = find_formats()[".epub"].read
    monkeypatch.delitem(sys.modules, f"{readers.__name__}.epub")
    steps: list[tuple[int, int]] = []
    pieces: list[str] = []
    book = epub("<h1>Fristen</h1><p>Die Frist endet am 15. Juli.</p>", "<h1>Gebühren</h1><p>Keine.</p>")
    text = read(BytesIO(book), limits=Limits(), progress=lambda page, of: steps.append((page, of)), write=pieces.append)
    assert (text.title, steps) == ("Fristen", [(0, 2), (1, 2)])
    assert "".join(pieces) == "# Fristen\n\nDie Frist endet am 15. Juli.\n\n# Gebühren\n\nKeine.\n"
    with pytest.raises(BadFile, match="it is cut off or damaged"):
        read(BytesIO(b"no zip"), limits=Limits(), progress=print, write=print)


def test_the_examples_keep_the_rules_of_style() -> None:
    assert set(EXAMPLES) == {RETRIEVER, FORMAT, "manage.py shell"}
    for name in (RETRIEVER, FORMAT):
        for rule in (["check"], ["format", "--check"]):
            command = [sys.executable, "-m", "ruff", *rule, "--stdin-filename", str(ROOT / name), "-"]
            done = subprocess.run(command, cwd=ROOT, input=EXAMPLES[name], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
