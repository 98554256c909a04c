"""Records of answers: are they the same after much has changed, how large are they, and what do they cost?

Half of the questions are about the demo, half about a website of made-up pages that is crawled. In between come edits
of documents and FAQs, changed profiles and assistants, two other embedding models, and a crawl that finds a third of
the website changed and a tenth of it gone. Digests are taken of what staff are shown, and of the citations.
"""

import hashlib
import json
import time
import uuid
import zlib
from collections.abc import Iterator
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings

from benchmarks.corpus import Corpus
from benchmarks.measuring import percentiles, say
from chat.conversations.closing import close_answer
from chat.conversations.opening import open_question
from chat.conversations.visitors import new_visitor
from chat.models import AnswerRecord, Assistant, Message, RetrievalProfile
from chat.pipeline.moment import describe_moment
from chat.pipeline.retrieval.search import retrieve
from chat.pipeline.run import collect
from chat.pipeline.understanding.route import understand
from chat.protocol.answer_events import End
from chat.protocol.moment import read_moment
from core.inference.embeddings.e5.embedder import MULTILINGUAL
from core.inference.embeddings.minilm import MINILM
from faqs.indexing import sync_pending as sync_faqs
from faqs.models import FAQ
from knowledge.indexing.documents import build_pending, sync_document, sync_pending
from knowledge.ingest.crawl_jobs.runs import crawl, queue_run
from knowledge.models import Collection, Document, Generation, Source
from knowledge.services.crawls import save_source
from tests.knowledge.site import Answer, Site, page

WEBSITE = 30
#: Edits between two runs of the index.
AT_ONCE = 200
MEASURED = 60


#: One after the other.
MODELS = (MINILM, MULTILINGUAL, MINILM)


@override_settings(EMBEDDING_MODEL=MODELS[0])
def measure(*, answers: int, edits: int) -> dict[str, Any]:
    call_command("load_demo", verbosity=0)
    corpus, site = Corpus(), Site()
    try:
        publish(site, corpus, range(WEBSITE))
        source = make_source(site)
        crawl_again(source)
        say(f"{Document.objects.count()} pages are indexed")
        assistant = Assistant.objects.get()
        assistant.collections.clear()
        ask_all(corpus.questions(answers, pages=WEBSITE))
        before = digests()
        say(f"{len(before)} answers are saved")
        results: dict[str, Any] = {"answers": len(before), "records": AnswerRecord.objects.count(), **sizes()}
        results["ms"] = milliseconds(corpus.questions(MEASURED, pages=WEBSITE, kind=1))
        models = change_everything(assistant, source, site, corpus, edits=edits)
        results |= {"edits": edits, "models": models}
    finally:
        site.close()
    after = digests()
    results["same"] = sum(after[answer] == before[answer] for answer in before)
    report(results)
    return results


# --- a university ---


def publish(site: Site, corpus: Corpus, numbers: range, *, note: str = "") -> None:
    links = "".join(f'<a href="/{number}">Page {number}</a> ' for number in numbers)
    site.answers["/"] = page(f"<title>All pages</title><main><h1>All pages</h1><p>{links}</p></main>".encode())
    for number in numbers:
        made = corpus.page(number)
        changed = note if number % 3 == 0 else ""
        parts = "".join(f"<h2>{heading}</h2><p>{changed} {text}</p>" for heading, text in made.sections)
        html = f"<title>{made.title}</title><main><h1>{made.title}</h1>{parts}</main>"
        site.answers[f"/{number}"] = page(html.encode())


def make_source(site: Site) -> Source:
    collection = Collection.objects.create(slug="website", name="Website")
    return save_source(
        source=Source(
            name="Website",
            collection=collection,
            start_urls=[site.url("/")],
            delay_s=0,
            allow_private=True,
            max_loss_percent=50,
        )
    )


def crawl_again(source: Source) -> None:
    run_id = queue_run(source.pk)
    run = crawl(run_id, index=sync_document) if run_id else None
    if run is None or run.state != run.State.FINISHED:
        raise RuntimeError(f"the crawl ended as {run and run.state}")


# --- answers ---


def ask_all(questions: list[str]) -> None:
    visitor = new_visitor()
    for question in questions:
        opened = open_question(
            visitor=visitor, conversation=uuid.uuid4(), client_id=uuid.uuid4(), text=question, language="en"
        )
        reply = async_to_sync(collect)(opened.ask)
        if reply.end is None:
            raise RuntimeError("an answer ended without an End")
        close_answer(reply_id=opened.reply.pk, reply=reply, status=reply.end.status)


def digests() -> dict[int, str]:
    """Return a digest of each answer with all that is shown of how it came about."""
    shown = (
        "n",
        "title",
        "url",
        "heading",
        "page",
        "quote",
        "links",
        "language",
        "checked_on",
        "edition",
        "read_by_ocr",
    )
    found = {}
    for answer in Message.objects.filter(role="assistant").select_related("record").prefetch_related("citations"):
        told: dict[str, Any] = {"text": answer.text, "retrieved": answer.retrieved, "evidence": answer.evidence}
        told["cited"] = [[getattr(each, name) for name in shown] for each in answer.citations.all()]
        if hasattr(answer, "record"):
            told["moment"] = read_moment(answer.record.moment).to_json()
        found[answer.pk] = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return found


# --- what changes in between ---


def change_everything(assistant: Assistant, source: Source, site: Site, corpus: Corpus, *, edits: int) -> list[str]:
    """Return the embedding models that answered one after the other."""
    used = [Generation.objects.get(state="live").model]
    waiting = iter(edit(assistant))
    for number in range(1, edits + 1):
        next(waiting)
        if number % AT_ONCE == 0:
            sync_pending()
            sync_faqs()
        if number == edits // 3 or number == edits * 2 // 3:
            with override_settings(EMBEDDING_MODEL=MODELS[len(used)]):
                build_pending()
            used.append(Generation.objects.get(state="live").model)
    for number in range(0, WEBSITE, 10):
        site.answers[f"/{number}"] = Answer(404, b"Gone")
    left = [number for number in range(WEBSITE) if number % 10]
    for number in left[::3]:
        made = corpus.page(number + WEBSITE)
        site.answers[f"/{number}"] = page(f"<title>New</title><main><h1>New</h1><p>{made.text}</p></main>".encode())
    crawl_again(source)
    return used


def edit(assistant: Assistant) -> Iterator[None]:
    """Make one edit after the other: of twenty, fifteen are of documents, three of FAQs, one of the profile and one of
    the assistant; now and then a document or an FAQ goes."""
    documents = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    faqs = list(FAQ.objects.order_by("pk").values_list("pk", flat=True))
    profile = RetrievalProfile.objects.create(name="changing")
    profile.legs.create(retriever="lexical", k=50)
    number = 0
    while True:
        turn = number % 20
        with transaction.atomic():
            if turn < 15:
                edit_document(documents[number * 7 % len(documents)], number)
            elif turn < 18:
                edit_faq(faqs[number % len(faqs)], number)
            elif turn == 18:
                profile.sources, profile.threshold = 1 + number % 9, number % 50 / 100
                profile.save()
            else:
                assistant.profile, assistant.persona = profile, f"Persona {number}."
                assistant.save()
        number += 1
        yield


def edit_document(pk: int, number: int) -> None:
    document = Document.objects.filter(pk=pk).first()
    if document is None:
        return
    if number % 97 == 0:
        document.delete()
        return
    if number % 10 == 0:
        document.title = f"{document.title.partition(' (')[0]} ({number})"
    document.text = document.text.replace("e", "ee", 3) + f"\n\nChanged for the time {number}.\n"
    document.save()


def edit_faq(pk: int, number: int) -> None:
    faq = FAQ.objects.filter(pk=pk).first()
    if faq is None:
        return
    if number % 89 == 0:
        faq.delete()
        return
    faq.reference_answer = f"Answer {number}."
    faq.save()


# --- figures ---


def sizes() -> dict[str, Any]:
    """Return kilobytes of a record: as JSON, compressed, and on PostgreSQL's disk with its index."""
    records = [json.dumps(moment).encode() for moment in AnswerRecord.objects.values_list("moment", flat=True)]
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE chat_answerrecord")
        cursor.execute("SELECT pg_total_relation_size('chat_answerrecord')")
        (on_disk,) = cursor.fetchone()
    return {
        "kb_as_json": percentiles(len(each) / 1000 for each in records),
        "kb_by_zlib": percentiles(len(zlib.compress(each)) / 1000 for each in records),
        "kb_on_disk": round(on_disk / len(records) / 1000, 2),
        "kb_by_hash": round(shared_size() / len(records) / 1000, 2),
    }


def shared_size() -> int:
    """Bytes that all records would take with each passage's text stored once, by zlib: the other way to store them."""
    texts, rest = set(), 0
    for moment in AnswerRecord.objects.values_list("moment", flat=True):
        texts |= {each.pop("text") for each in moment["passages"]}
        rest += len(zlib.compress(json.dumps(moment).encode())) + 32 * len(moment["passages"])
    return rest + sum(len(zlib.compress(text.encode())) for text in texts)


def milliseconds(questions: list[str]) -> dict[str, Any]:
    """Return what describing a moment costs, and saving an answer with it and without it, in turns."""
    describing, without, with_it = [], [], []
    for number, question in enumerate(questions):
        opened = open_question(
            visitor=new_visitor(), conversation=uuid.uuid4(), client_id=uuid.uuid4(), text=question, language="en"
        )
        context = async_to_sync(understand)(opened.ask)
        async_to_sync(retrieve)(context)
        began = time.perf_counter()
        describe_moment(context, "extractive")
        describing.append((time.perf_counter() - began) * 1000)
        reply = async_to_sync(collect)(opened.ask)
        if number % 2 and reply.end:
            reply.end = End(reply.end.status, reply.end.strategy, retrieved=reply.end.retrieved)
        began = time.perf_counter()
        close_answer(reply_id=opened.reply.pk, reply=reply, status="complete")
        (without if number % 2 else with_it).append((time.perf_counter() - began) * 1000)
    return {
        "describing": percentiles(describing),
        "saving_without": percentiles(without),
        "saving_with": percentiles(with_it),
    }


def report(results: dict[str, Any]) -> None:
    say(
        f"{results['same']} of {results['answers']} answers ({results['records']} with a record) are as they were "
        f"after {results['edits']} edits, the models {' → '.join(results['models'])}, and a crawl"
    )
    say(
        f"kB a record: {results['kb_as_json']} as JSON, {results['kb_by_zlib']} by zlib, {results['kb_on_disk']} on "
        f"PostgreSQL's disk; {results['kb_by_hash']} with each text stored once"
    )
    say(f"ms: {results['ms']}")
