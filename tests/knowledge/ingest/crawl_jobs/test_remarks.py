"""Remarks on what a crawl saved: none is dropped for another."""

from pathlib import Path

import pytest
from pytest_django import Settings

from knowledge.ingest.crawl_jobs.importer import Applied, archive_page, save_file
from knowledge.ingest.crawler.messages import FetchedFile
from knowledge.ingest.formats.types import Said
from knowledge.ingest.remarks import as_json, from_json
from knowledge.models import Source
from tests.factories import CollectionFactory
from tests.knowledge import offices

pytestmark = pytest.mark.django_db
URL = "https://www.uni.example/hours.xlsx"
HIDDEN = "hidden sheets were left out: intern"
ELSEWHERE = "it takes content from elsewhere, which was not fetched (http://templates.example/t.dotm)"


def saved(source: Source, folder: Path, content: bytes) -> Applied:
    path = folder / "hours.xlsx"
    path.write_bytes(content)
    return save_file(source, FetchedFile(URL, str(path), "hours.xlsx", "", ""), progress=lambda _page, _of: None)


def test_a_file_has_all_its_remarks_also_when_it_is_back(tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    source = Source.objects.create(name="Site", collection=CollectionFactory(), start_urls=["https://www.uni.example/"])
    linked = offices.linked(offices.workbook(), "xl/_rels/more.xml.rels")
    elsewhere, hidden = map(str, saved(source, tmp_path, linked).remarks)
    assert (elsewhere.startswith(ELSEWHERE), hidden) == (True, HIDDEN)
    assert archive_page(source.pages.get(url=URL))
    back = saved(source, tmp_path, offices.workbook())
    assert list(map(str, back.remarks)) == ["it is there again, and published again", HIDDEN]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_remarks_are_stored_in_their_order(count: int) -> None:
    said = [Said("the server answers with status {status}", {"status": number}) for number in range(count)]
    assert from_json(as_json(*said)) == said


def test_remarks_of_earlier_versions_are_read() -> None:
    stored = {"template": "it is there again, and published again", "values": {}}
    assert from_json(stored) == [Said("it is there again, and published again")]
