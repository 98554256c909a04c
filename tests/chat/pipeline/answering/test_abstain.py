"""Which words of a question an abstention may call missing."""

import pytest

from chat.pipeline.answering.abstain import missing_words
from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from knowledge.indexing.documents import sync_document
from knowledge.retrieval.scope import build_scope
from tests.factories import DocumentFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Is a helicopter at the dorm?", ["helicopter"]),
        ("Prüfungsanmeldung, libary and the VPD", []),
        ("the 1st gym, 2 and st", ["gym"]),
        ("XYZ", ["XYZ"]),
        ("Wohnheim während und wegen der Anmeldung, the library during and despite", []),
        ("", []),
        ("?!…", []),
        ("где общежитие", ["где", "общежитие"]),
    ],
)
def test_only_a_word_that_no_page_has_in_any_form_is_missing(question: str, missing: list[str]) -> None:
    text = "Das Wohnheim. Die Anmeldung zur Prüfung. The first library. Die Vorprüfungsdokumentation (VPD)."
    sync_document(DocumentFactory(text=text, language="de").pk)
    scope = build_scope()
    query = retrieve_with(PROFILES["default"], question, scope=scope, k=5).query
    assert missing_words(question, query, scope) == missing
