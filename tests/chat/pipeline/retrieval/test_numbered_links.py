"""Links that a crawled page has by number: offered to students who ask for one, and in no answer as a raw marker."""

from typing import Any

import pytest

from chat.pipeline.retrieval.candidates import as_source, load_candidates
from chat.protocol.shapes import Link
from knowledge.retrieval.search import RankedPassage
from tests.factories import DocumentFactory, PassageFactory

TEXT = "Hand in the [**form**][2] or ask the [office][1]. See [the archive][9], and [what is new](/news)."
AS_NOW: Any = [{"text": "office", "url": "https://www.uni.example/office"}, {"text": "form", "url": "/forms/a.pdf"}]
#: As crawls wrote them before.
AS_ONCE: Any = [["office", "https://www.uni.example/office"], ["form", "/forms/a.pdf"]]


@pytest.mark.django_db
@pytest.mark.parametrize("listed", [AS_NOW, AS_ONCE])
def test_the_links_of_a_crawled_page_are_offered_to_who_asks_for_one(listed: Any) -> None:
    document = DocumentFactory(url="https://www.uni.example/study/", text=TEXT, metadata={"references": listed})
    passage = PassageFactory(document=document, text=TEXT)
    (found,) = load_candidates([RankedPassage(passage.pk, document.pk, 1, 1.0, {})])
    assert found.text == "Hand in the **form** or ask the office. See the archive, and [what is new](/news)."
    source = as_source(found, n=1, question="Where is the link to the form?")
    assert source.links == (
        Link("what is new", "https://www.uni.example/news"),
        Link("form", "https://www.uni.example/forms/a.pdf"),
        Link("office", "https://www.uni.example/office"),
    )
    assert as_source(found, n=1, question="When is it due?").links == ()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text", ["Room [101 ][1], as in [1][2] and [12][99].", "Room [101][1], as in [1 ][2] and [12][99]."]
)
def test_a_link_whose_words_are_a_number_is_offered_and_read_as_words(text: str) -> None:
    document = DocumentFactory(url="https://www.uni.example/rooms/", text=text, metadata={"references": AS_NOW})
    passage = PassageFactory(document=document, text=text)
    (found,) = load_candidates([RankedPassage(passage.pk, document.pk, 1, 1.0, {})])
    assert found.text == "Room 101, as in 1 and [12][99]."
    source = as_source(found, n=1, question="Where is the link to the room?")
    assert [(link.label, link.url) for link in source.links] == [
        ("101", "https://www.uni.example/office"),
        ("1", "https://www.uni.example/forms/a.pdf"),
    ]
