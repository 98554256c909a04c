"""Another embedding model, or other passages, take the old ones' place while questions go on being answered."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
from core.inference.embeddings import EmbeddingUnavailable
from faqs.indexing import sync_faq
from faqs.models import FAQVector
from knowledge.indexing.documents import build_pending, sync_document
from knowledge.indexing.generations import GRACE, delete_retired, generation_to_build, live_generation
from knowledge.models import Document, Generation, Passage
from knowledge.retrieval.live_index import forget_indexes, served_generation
from knowledge.retrieval.query_vectors import forget_vectors
from knowledge.retrieval.scope import build_scope
from knowledge.services.documents import save_document
from knowledge.tasks import build_generation
from tests.factories import DocumentFactory, FAQFactory
from tests.knowledge.embedders import Instant, Watched, using
from tests.servers import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "# One\n\nA parking permit costs 12 euros.\n\n# Two\n\nThe library lends books."


@pytest.fixture
def document(monkeypatch: pytest.MonkeyPatch) -> Document:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)
    document: Document = DocumentFactory(title="Page", text=TEXT)
    sync_document(document.pk)
    return document


def found(text: str = "parking permit", profile: str = "bm25+dense") -> list[str]:
    hits = retrieve_with(get_profile(profile), text, scope=build_scope(), k=10).hits
    rows = dict(Passage.objects.values_list("pk", "text"))
    return [rows[hit.passage_id] for hit in hits]


def another(dimensions: int = 384) -> Instant:
    return Instant(recipe="f" * 32, dimensions=dimensions)


def states() -> list[tuple[str, str]]:
    return list(Generation.objects.order_by("pk").values_list("model", "state"))


def test_the_same_settings_build_nothing(document: Document) -> None:
    assert generation_to_build() is None
    assert build_pending() is None
    assert Generation.objects.count() == 1


def test_another_model_is_built_beside_the_old_and_takes_its_place(document: Document) -> None:
    old, before = live_generation(), found()
    faq = FAQFactory(question="Parking?", documents=[document])
    sync_faq(faq.pk)
    answered: list[list[str]] = []
    new = another(dimensions=16)
    with using(new):
        embed = new.embed

        def answer_and_embed(texts: list[str]) -> object:
            answered.append(found())
            connection.close()  # it is called in a thread of its own
            return embed(texts)

        new.embed = answer_and_embed  # type: ignore[method-assign, assignment]
        assert build_pending() is not None
        new.embed = embed  # type: ignore[method-assign]
        live = live_generation()
        assert (live.model, live.dimensions) == ("f" * 32, 16)
        assert answered
        assert all(each == before for each in answered)
        assert states() == [("all-MiniLM-L6-v2", "retired"), ("f" * 32, "live")]
        wait_until(lambda: served_generation().pk == live.pk)
        assert sorted(found()) == sorted(before)
        assert set(FAQVector.objects.values_list("generation", flat=True)) == {old.pk, live.pk}
        assert build_pending() is None


def test_an_edit_while_it_is_built_reaches_both(document: Document) -> None:
    with using(another()):
        building = generation_to_build()
        assert building
        document.text = "# One\n\nA swimming course."
        save_document(document=document)
        sync_document(document.pk)
        texts = {
            pk: set(Passage.objects.filter(generation=pk).values_list("text", flat=True))
            for pk in (live_generation().pk, building.pk)
        }
        assert list(texts.values()) == [{"A swimming course."}] * 2


def test_other_passages_embed_only_what_is_cut_differently(document: Document, settings: Settings) -> None:
    settings.PASSAGE_TOKENS = 150
    with using(Watched()) as watched:
        assert build_pending() is not None
        assert watched.seen == []  # short sections are cut the same
    assert live_generation().passage_tokens == 150
    wait_until(lambda: served_generation().pk == live_generation().pk)
    assert found()[0] == "A parking permit costs 12 euros."


def test_settings_that_go_back_drop_what_was_begun(document: Document) -> None:
    with using(another()):
        building = generation_to_build()
        assert building
        assert generation_to_build() == building
    assert generation_to_build() is None
    building.refresh_from_db()
    assert building.state == "retired"


def test_a_model_that_fails_leaves_the_old_index_answering(document: Document) -> None:
    def fail() -> None:
        raise EmbeddingUnavailable("no")

    with using(Watched(recipe="f" * 32, before=fail)):
        before = found()
        with pytest.raises(EmbeddingUnavailable):
            build_pending()
        assert found() == before
        assert live_generation().model == "all-MiniLM-L6-v2"
    with using(another()):  # it works again and goes on
        build_generation()
        assert live_generation().model == "f" * 32


def test_what_is_retired_is_deleted_once_nobody_can_be_answering_from_it(document: Document) -> None:
    old = live_generation()
    with using(another()):
        build_pending()
        assert delete_retired() == 0
        assert old.pk in set(Passage.objects.values_list("generation", flat=True))
        Generation.objects.filter(pk=old.pk).update(retired_at=timezone.now() - GRACE * 2)
        assert delete_retired() == 1
        assert set(Passage.objects.values_list("generation", flat=True)) == {live_generation().pk}
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_indexes WHERE indexname LIKE %s", [f"%_hnsw_{old.pk}"])
            assert cursor.fetchone() == (0,)
        forget_indexes()
        assert found()


def test_each_generation_is_searched_through_its_own_hnsw_index(document: Document) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
        length, pk = live_generation().dimensions, live_generation().pk
        cursor.execute(
            f"EXPLAIN SELECT id FROM knowledge_passage WHERE generation_id = {pk}"
            f" ORDER BY embedding::halfvec({length}) <=> '[1{',0' * (length - 1)}]' LIMIT 5"
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan; RESET enable_sort")
    assert f"knowledge_passage_hnsw_{pk}" in plan


def test_reindex_says_what_it_will_take_and_does_it(document: Document) -> None:
    def said(*arguments: str) -> str:
        out = StringIO()
        call_command("reindex", *arguments, stdout=out)
        return out.getvalue()

    assert "nothing to do" in said("--estimate")
    Document.objects.update(text="# One\n\nAnother text.", state_hash="0" * 32)
    assert "1 documents, 20 characters" in said("--estimate")
    assert "up to date" in said()
    assert "nothing to do" in said("--estimate")
    with using(another()):
        assert "New index" in said("--estimate")
        assert live_generation().model == "all-MiniLM-L6-v2"
        assert "The new index answers from now on." in said()
        assert live_generation().model == "f" * 32


# --- a model behind an endpoint ---


class Embeddings(BaseHTTPRequestHandler):
    """The embeddings door of an OpenAI-compatible server: vectors of 8 numbers, by the letters of the text."""

    status = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [
            {"object": "embedding", "index": index, "embedding": [text.count(letter) + 0.1 for letter in "aeioupkb"]}
            for index, text in enumerate(asked["input"])
        ]
        answer = {
            "object": "list",
            "data": rows[::-1],
            "model": asked["model"],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        body = json.dumps(answer if self.status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[type[Embeddings]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Embeddings.address = f"http://127.0.0.1:{server.server_port}/v1"  # type: ignore[attr-defined]
    yield Embeddings
    Embeddings.status = 200
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_a_model_behind_an_endpoint_takes_over(
    document: Document, endpoint: type[Embeddings], settings: Settings
) -> None:
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_MODEL = endpoint.address, "letters"  # type: ignore[attr-defined]
    before = sorted(found())
    build_pending()
    assert live_generation().dimensions == 8
    wait_until(lambda: served_generation().pk == live_generation().pk)
    assert sorted(found(profile="dense")) == before
    endpoint.status = 400
    forget_vectors()
    with pytest.raises(EmbeddingUnavailable, match="EMBEDDING_BASE_URL"):
        found()


def test_vectors_stand_in_their_rows(document: Document) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT attstorage FROM pg_attribute WHERE attname = 'embedding' AND attrelid IN"
            " ('knowledge_passage'::regclass, 'knowledge_unit'::regclass, 'faqs_faqvector'::regclass)"
        )
        assert cursor.fetchall() == [("m",)]  # not in a TOAST table, which every search would have to read
