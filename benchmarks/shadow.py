"""Times how long staff wait to see what an FAQ would change: the panel in its form, at a university's size.

It also times the whole set, for an FAQ and for a document.

The panel is asked for over Django's own test client: the form is read, the nearest of 10,000 questions are found, each
is looked up without the FAQ and with it, and the page is rendered.
"""

import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from analytics.models import AskedVector
from analytics.shadow.drafts import DocumentDraft, FAQDraft
from analytics.shadow.run import work_on
from analytics.shadow.services import start_test
from benchmarks.corpus import SECTIONS, derived_vectors
from benchmarks.loading import Loader
from benchmarks.measuring import percentiles, say, table
from chat.models import Assistant, Conversation, Message, Visitor
from core.inference.embeddings import get_embedder
from faqs.models import FAQ
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, Passage
from knowledge.retrieval.query_vectors import forget_vectors

PASSAGES, QUESTIONS, FAQS = 25_000, 10_000, 300
#: Forms tried, and questions whose vectors are made for real; those of all others are derived.
FORMS, EMBEDDED = 40, 500


def measure(folder: Path, *, quick: bool) -> dict[str, Any]:
    files = folder / "shadow"
    files.mkdir()
    loader = Loader(files, embedded=60 if quick else 300)
    loader.grow((2_500 if quick else PASSAGES) // SECTIONS)
    loader.add_faqs(100 if quick else FAQS)
    assistant = Assistant.objects.create(slug="bench", name="Bench", institution="a university")
    ask_many(assistant, loader.corpus.questions(1_000 if quick else QUESTIONS, pages=loader.size))
    loader.settle()
    result: dict[str, Any] = {
        "passages": Passage.objects.filter(generation=live_generation()).count(),
        "questions": Message.objects.filter(role=Message.Role.USER).count(),
        "panel_ms": percentiles(panel_times(10 if quick else FORMS)),
        "whole_set_s": {name: whole_set(assistant, name) for name in ("faq", "document")},
    }
    say(f"\n{result['passages']:,} passages, {result['questions']:,} questions of students\n")
    rows = [[name, f"{value:,.0f}"] for name, value in result["panel_ms"].items()]
    table(["panel of an FAQ's form, ms", ""], rows)
    table(["whole set, s", ""], [[name, f"{value:.1f}"] for name, value in result["whole_set_s"].items()])
    return result


def ask_many(assistant: Assistant, texts: list[str]) -> None:
    visitor = Visitor.objects.create()
    conversation = Conversation.objects.create(id=uuid.uuid4(), visitor=visitor, assistant=assistant)
    role = Message.Role.USER
    asked = Message.objects.bulk_create(
        (Message(conversation=conversation, role=role, text=text, client_id=uuid.uuid4()) for text in texts),
        batch_size=1_000,
    )
    Message.objects.bulk_create(
        (
            Message(conversation=conversation, role=Message.Role.ASSISTANT, question=question, text="An answer.")
            for question in asked
        ),
        batch_size=1_000,
    )
    embedder = get_embedder()
    real = embedder.embed_questions(texts[:EMBEDDED])
    derived = derived_vectors(real, len(texts) - len(real))
    AskedVector.objects.bulk_create(
        (
            AskedVector(message=question, recipe=embedder.recipe, of="bench", embedding=vector)
            for question, vector in zip(asked, [*real, *derived], strict=True)
        ),
        batch_size=500,
    )


def panel_times(forms: int) -> list[float]:
    """Milliseconds from the request to the rendered panel; the first, which loads the index, is left out."""
    staff = get_user_model().objects.create_superuser("bench")
    client = Client(SERVER_NAME="localhost")
    client.force_login(staff)
    times = []
    for faq in FAQ.objects.order_by("pk")[: forms + 1]:
        draft = FAQDraft.of(faq)
        data = {
            "question": f"{draft.question} And at weekends?",
            "language": draft.language,
            "status": "published",
            "phrasings-TOTAL_FORMS": len(draft.phrasings),
            "phrasings-INITIAL_FORMS": 0,
            "sources-TOTAL_FORMS": len(draft.documents),
            "sources-INITIAL_FORMS": 0,
            **{f"phrasings-{number}-text": text for number, text in enumerate(draft.phrasings)},
            **{f"sources-{number}-document": pk for number, pk in enumerate(reversed(draft.documents))},
        }
        forget_vectors()  # nobody has asked this lately
        began = time.perf_counter()
        answer = client.post(f"{reverse('shadow-faq')}?faq={faq.pk}", data, headers={"X-Requested-With": "fetch"})
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.status_code
        assert b"errornote" not in answer.content, answer.content
    return times[1:]


def whole_set(assistant: Assistant, kind: str) -> float:
    """Seconds from the worker's beginning to its end."""
    draft: Any
    if kind == "faq":
        target: Any = FAQ.objects.order_by("pk").last()
        draft = replace(FAQDraft.of(target), status="retired")
    else:
        target = Document.objects.order_by("pk").last()
        draft = replace(DocumentDraft.of(target), text=f"{target.text}\n\n# Sundays\n\nClosed on Sundays.\n")
    by = get_user_model().objects.get(username="bench")
    test = start_test(draft=draft, target_id=target.pk, title="bench", assistant=assistant, by=by)
    forget_vectors()
    began = time.perf_counter()
    work_on(test.pk)
    seconds = time.perf_counter() - began
    test.refresh_from_db()
    assert test.state == "finished", test.message
    return seconds
