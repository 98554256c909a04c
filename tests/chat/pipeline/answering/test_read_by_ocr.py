"""Answers from pages that are pictures: the source says that a program read it, then and later."""

import pytest

from knowledge.models import Document, PicturePage
from tests.conftest import load_pages
from tests.servers import Server

TEXT = """<!-- page 1 -->
# Library

The reading room of the library opens at eight and closes at ten in the evening.

<!-- page 2 -->
# Semester contribution

The semester contribution is 318.40 euros and has to be paid by transfer.
"""
READ = ["Semester contribution", "The semester contribution is 318.40 euros and", "has to be paid by transfer."]


@pytest.fixture
def _pages(db: None) -> None:
    load_pages([{"url": "https://www.uni.example/rules.pdf", "title": "Rules", "text": TEXT}])
    PicturePage.objects.create(
        document=Document.objects.get(),
        page=2,
        state=PicturePage.State.IN_TEXT,
        lines=[[line, 0, 0, 1, 1] for line in READ],
    )


@pytest.mark.usefixtures("_pages")
@pytest.mark.parametrize(
    ("question", "expected"),
    [("How much is the semester contribution?", True), ("When does the reading room of the library open?", False)],
)
def test_a_source_says_whether_it_was_read_off_a_picture(server: Server, question: str, expected: bool) -> None:
    token = server.session()
    with server.connect(token, language="en") as tab:
        answer = tab.answer(question)
        conversation = tab.conversation
    with server.connect(token) as tab:
        tab.resume(conversation=conversation)
        saved = tab.next()["messages"][1]
    assert answer.cited[0]["read_by_ocr"] is expected
    assert saved["sources"][0]["read_by_ocr"] is expected
