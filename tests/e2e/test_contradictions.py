"""Two pages contradict each other: a curator comes to both, side by side, from the first page, and lets them agree."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.clicks import Curator
from tests.e2e.conftest import keep
from tests.e2e.test_curator import office  # noqa: F401
from tests.runtime.stack import Run
from tests.servers import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: From the first page to texts that agree.
MOST_PRESSED = 5
TWO_PAGES = """
import time
from analytics.contradictions.run import compare_all
from analytics.models import Contradiction
from knowledge.indexing.documents import sync_pending
from knowledge.ingest.importer import document_record, import_records
from knowledge.models import Collection

for title, fee in (("Deposits", 35), ("Observatory", 45)):
    record = document_record({
        "url": f"https://www.uni.example/observatory-{fee}",
        "title": title,
        "text": f"# {title}\\n\\nThe deposit for a key to the observatory is {fee} euros for each student.",
    })
    import_records([(1, record)], collection=Collection.objects.get(slug="lindental"))
sync_pending()
while compare_all() is None:  # the one of the minute compares
    time.sleep(1)
print("found", Contradiction.objects.open().filter(first_text__contains="observatory").count())
"""
GONE = """
from knowledge.models import Document
Document.objects.filter(url__startswith="https://www.uni.example/observatory-").delete()
"""


@pytest.fixture
def two_pages(quoting: Run) -> Iterator[None]:
    said = quoting.does(TWO_PAGES)
    assert "found 1" in said, said
    yield
    quoting.does(GONE)


def test_from_the_first_page_to_texts_that_agree(two_pages: None, office: Page) -> None:  # noqa: F811
    office.reload()
    curator = Curator(office)
    curator.press(office.get_by_role("link", name="between pages, FAQs and answers"))
    row = office.locator(".contradiction", has_text="key to the observatory")
    for fee in ("is 35 euros", "is 45 euros"):
        expect(row.locator("blockquote", has_text=fee)).to_be_visible()
    left, right = row.locator(".contradiction__side").evaluate_all(
        "sides => sides.map(side => side.getBoundingClientRect().toJSON())"
    )
    assert left["top"] == right["top"]
    assert left["right"] <= right["left"]
    keep(office, "contradiction")
    curator.press(row.get_by_role("link", name="Edit Deposits"))
    curator.press(office.get_by_role("button", name="Markdown", exact=True).first)
    office.locator("#id_text").fill(office.locator("#id_text").input_value().replace("35 euros", "45 euros"))
    curator.press(office.get_by_role("button", name="Save", exact=True))
    curator.waits()
    expect(office).to_have_url(re.compile("/contradictions/"))

    def is_settled() -> bool:
        office.reload()
        return row.count() == 0

    wait_until(is_settled, 180)
    curator.arrives(MOST_PRESSED)
