"""FAQs with several phrasings each, indexed, and their collection."""

from collections.abc import Callable

import pytest

from core.inference.embeddings import get_embedder
from faqs.indexing import sync_faq
from faqs.models import FAQ
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection
from knowledge.retrieval.types import Query
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory

Ways = dict[str, tuple[str, ...]]

WAYS: Ways = {
    "How much is the semester fee?": (
        "What do I pay each term?",
        "Semester contribution amount",
        "How expensive is a semester?",
        "Cost of the semester fee",
        "What does studying cost per semester?",
    ),
    "When does the library close?": (
        "Until when can I study in the library?",
        "Library opening hours",
        "Is the library open on Sunday?",
        "At what time does the library shut?",
        "How long is the library open tonight?",
    ),
    "How do I reset my password?": (
        "I forgot my password",
        "My login does not work any more",
        "Change password of my account",
        "I cannot sign in",
        "Where do I get a new password?",
    ),
    "Where can I park my car?": (
        "Is there a car park on campus?",
        "Parking spaces for students",
        "Do I need a permit to park?",
        "Can I leave my car at the university?",
        "Car park fees",
    ),
    "How do I rent a room in a hall?": (
        "Student housing application",
        "I need a place to live",
        "Can I get a flat from student services?",
        "Rooms in a dormitory",
        "How do I apply for accommodation?",
    ),
    "How do I get a doctor's note accepted?": (
        "I am ill on the day of my exam",
        "Sick note for an exam",
        "What if I miss an exam because of illness?",
        "Where do I hand in a medical certificate?",
        "Ill during the exam",
    ),
}


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda _id: None)


Publish = Callable[..., dict[str, FAQ]]


@pytest.fixture
def publish() -> Publish:
    """Publish FAQs with a document each in a collection, indexed; by their question."""

    def make(collection: Collection, ways: Ways = WAYS, **values: object) -> dict[str, FAQ]:
        made = {}
        for question, phrasings in ways.items():
            document = DocumentFactory(collection=collection, title=question, text=f"# {question}\n\nIt is so.\n")
            sync_document(document.pk)
            faq: FAQ = FAQFactory(
                question=question, phrasings=phrasings, documents=[document], **{"status": "published", **values}
            )
            sync_faq(faq.pk)
            made[question] = faq
        return made

    return make


@pytest.fixture
def collection() -> Collection:
    found: Collection = CollectionFactory()
    return found


def ask(text: str) -> Query:
    """Return a question as retrieval has it."""
    generation, embedder = live_generation(), get_embedder()
    vector = embedder.embed_questions([text])[0]
    return Query(text, vector, generation.pk, generation.model, embedder.scale)
