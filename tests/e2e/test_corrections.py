"""A correction whose source changed in the same place, as staff see it and decide it in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import ARTEFACTS
from tests.e2e.test_every_page import administrator, faults
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
A_CONFLICT = """
from knowledge.ingest.importer import document_record, import_records
from knowledge.models import Collection, Document
from knowledge.services.documents import save_document

rows = "\\n".join(f"| Item {n} | {n} euros |" for n in range(1, 9))
page = (
    "# Semester contribution\\n\\nIt is 318.40 euros each semester, and pays for the ticket.\\n\\n"
    "Pay it online, by transfer alone.\\n\\nThe cashier is open on Mondays.\\n\\n"
    f"## Other fees\\n\\n| What | How much |\\n|---|---|\\n{rows}\\n\\nWrite to the bursar’s office.\\n"
)
url = "https://www.uni.example/corrected-NAME"

def read(text):
    record = document_record({"url": url, "title": "Fees NAME", "text": text})
    import_records([(1, record)], collection=Collection.objects.get(slug="lindental"))

read(page)
document = Document.objects.get(url=url)
document.text = document.text.replace("318.40", "381.40").replace("| 7 euros |", "| 70 euros |")
save_document(document=document)
if "NAME" == "conflict":
    read(page.replace("318.40 euros each semester", "320 euros each term").replace("bursar", "student"))
print("number", document.pk)
"""


def made(run: Run, name: str) -> str:
    said = run.does(A_CONFLICT.replace("NAME", name))
    return f"/admin/knowledge/document/{said.rsplit('number ', 1)[1].split()[0]}/"


@pytest.fixture(autouse=True, scope="module")
def _pages_go(quoting: Run) -> Iterator[None]:
    """Delete the pages in the end: other tests ask the same stack what the contribution is."""
    yield
    quoting.does(
        "from knowledge.models import Document\nDocument.objects.filter(url__startswith='https://www.uni.example/corrected-').delete()"
    )


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "de-DE")])
def test_what_was_corrected_and_what_is_to_decide_fit_every_screen(
    browser: Browser, quoting: Run, scheme: str, locale: str
) -> None:
    conflict, kept = made(quoting, "conflict"), made(quoting, "kept")
    pages = {
        "conflict": f"{conflict}correction/",
        "page-in-conflict": f"{conflict}change/",
        "page": f"{kept}change/",
        "list": "/admin/knowledge/document/?corrected=yes",
        "to-do": "/admin/contradictions/?kind=corrected",
    }
    found = {}
    for width in (360, 768, 1440):
        page = administrator(browser, quoting, locale, scheme, width)  # type: ignore[arg-type]
        for name, path in pages.items():
            found[f"{name} at {width}"] = faults(page, path)
            ARTEFACTS.mkdir(exist_ok=True)
            picture: Path = ARTEFACTS / f"correction-{name}-{width}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)
        page.context.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_a_conflict_is_decided_with_the_editor_and_undone_with_one_press(browser: Browser, quoting: Run) -> None:
    page = administrator(browser, quoting, "en-GB", "light", 1440)
    address = made(quoting, "conflict")
    page.goto(f"{address}change/")
    page.get_by_role("link", name="Compare and decide").click()
    expect(page.get_by_text("381.40 euros each semester").first).to_be_visible()
    page.get_by_role("button", name="Keep the correction").click()
    expect(page.get_by_text("Decided.")).to_be_visible()
    expect(page.get_by_text("Corrected by staff on")).to_be_visible()
    page.get_by_role("button", name="Back to the text as it was read").click()
    expect(page.get_by_text("It says again what was read.")).to_be_visible()
    assert "320 euros each term" in page.locator("#id_text").input_value()
    page.context.close()
