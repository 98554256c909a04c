"""Servers that go and come back while students ask and staff edit: nothing stored is lost or doubled, the index equals
the database, and the service is back by itself. Each test prints how long that took."""

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from tests.faults.cluster import FACT, Cluster, cluster
from tests.knowledge.site import serving, small
from tests.runtime.processes import wait_until
from tests.servers import Tab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
MINUTE = 60
QUESTION = "How much is the semester contribution?"
#: Documents of many passages, not saved.
MANY = """
from knowledge.models import Collection, Document
from knowledge.services.documents import save_document
from knowledge.tasks import index_document
collection, _ = Collection.objects.get_or_create(slug="rooms")
def made(number):
    text = chr(10).join(f"# Part {{part}} of {name} {{number}}" + chr(10) + "It is decided there. " * 30
                        for part in range({parts}))
    url = f"https://www.uni.example/{name}-{{number}}"
    return Document(collection=collection, url=url, title=f"{name} {{number}}", text=text)
for document in map(made, range({count})):
"""
SAVE = "    save_document(document=document)"
#: Without the service, which would queue it once: the same task, by its id, for a worker and for the second one.
SAVE_AND_QUEUE = """
    document.save()
    for queue in ("again", "celery"):
        index_document.apply_async((document.pk,), task_id=f"index-{{document.pk}}", queue=queue)
"""
#: How many of those are indexed.
INDEXED = """
SELECT count(*) FROM knowledge_indexeddocument i JOIN knowledge_document d ON d.id = i.document_id WHERE url LIKE %s
"""
#: Begins the crawl of a site, a page a second.
CRAWL = """
from knowledge.tasks import run_crawl
from knowledge.services.crawls import save_source, start_crawl
from knowledge.models import Collection, Source
collection, _ = Collection.objects.get_or_create(slug="crawled")
run = start_crawl(source=save_source(source=Source(name={name!r}, collection=collection, start_urls=[{url!r}],
                                                   delay_s=1, allow_private=True)))
"""
CRAWL_AGAIN = "run_crawl.apply_async((run.pk,), queue='again')"
INDEX_TASK = "knowledge.tasks.index_document"


@pytest.fixture(scope="module")
def stack() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restarted", "crashed"])
def test_a_postgresql_that_was_away_costs_nothing(stack: Cluster, how: int) -> None:
    with stack.busy() as going:
        stack.postgres.stop(how)
        time.sleep(5)
        stack.postgres.start()
        began = time.monotonic()
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    print(f"\nPostgreSQL ({signal.Signals(how).name}): answers and edits {back:.1f} s, index {equal:.1f} s")


def test_a_valkey_that_was_away_costs_nothing(stack: Cluster) -> None:
    with stack.busy() as going:
        stack.valkey.kill()
        time.sleep(5)
        stack.valkey.start()
        began = time.monotonic()
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    print(f"\nValkey: answers and edits {back:.1f} s, index {equal:.1f} s")


def test_a_worker_killed_in_the_middle_of_indexing_loses_and_doubles_nothing(stack: Cluster) -> None:
    with stack.busy() as going:
        undisturbed = index_the_rest(stack, "undisturbed", began=begin_to_index(stack, "undisturbed"))
        begin_to_index(stack, "killed")
        stack.kill_worker("worker")
        began = time.monotonic()
        (done,) = stack.row(INDEXED, "%killed-%")
        assert done < 40
        wait_until(lambda: stack.row(INDEXED, "%killed-%")[0] > done, 120)
        again = time.monotonic() - began
        whole = index_the_rest(stack, "killed", began=began)
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    print(
        f"\nworker killed with {done} of 40 indexed: answers and edits {back:.1f} s, the next document {again:.1f} s, "
        f"the last {whole:.1f} s (without a kill {undisturbed:.1f} s), found equal {equal:.1f} s"
    )


def begin_to_index(stack: Cluster, name: str) -> float:
    """Save forty documents; return the moment when three of them are indexed."""
    stack.run.does(MANY.format(name=name, parts=20, count=40) + SAVE)
    wait_until(lambda: stack.row(INDEXED, f"%{name}-%")[0] >= 3, 120)
    return time.monotonic()


def index_the_rest(stack: Cluster, name: str, *, began: float) -> float:
    """Wait for the last of forty documents. Return the seconds from `began` on."""
    wait_until(lambda: stack.row(INDEXED, f"%{name}-%") == (40,), 240)
    return time.monotonic() - began


def test_a_worker_killed_in_the_middle_of_a_crawl_is_replaced(stack: Cluster) -> None:
    with serving(small) as site, stack.busy() as going:
        stack.run.does(CRAWL.format(url=site.url("/"), name="Site"))
        wait_until(lambda: stack.row("SELECT count(*) FROM knowledge_crawloutcome")[0] >= 3, 120)
        stack.kill_worker("crawl-worker")
        began = time.monotonic()
        # What is said every few seconds must be missed for half a minute: as if it had passed.
        stack.row(
            "UPDATE knowledge_crawlrun SET heartbeat_at = heartbeat_at - interval '30 seconds' "
            "WHERE state = 'running' RETURNING id"
        )
        wait_until(lambda: stack.row("SELECT count(*) FROM knowledge_crawlrun WHERE state = 'finished'") == (1,), 240)
        crawled = time.monotonic() - began
        equal = stack.index_equals_after_last_edit(going, began)
        pages = stack.row(
            "SELECT count(*), count(DISTINCT url) FROM knowledge_document WHERE url LIKE %s", f"{site.base}%"
        )
    assert pages == (len(site.answers), len(site.answers))
    print(f"\nworker killed while it crawled: whole site crawled {crawled:.1f} s, index {equal:.1f} s")


def test_a_web_process_killed_in_the_middle_of_answers_is_started_again(stack: Cluster) -> None:
    with stack.busy(words=80, between=0.05) as going, stack.server.connect() as tab:
        tab.ask(QUESTION)
        tab.until("message_delta")
        web = stack.run.web()
        os.kill(web, signal.SIGKILL)
        began = time.monotonic()
        back = going.goes_on(after=began)
        edits = min(moment for moment in going.editor.times if moment > began) - began
        with Tab(stack.server, tab.token) as again:
            again.resume(conversation=tab.conversation)
            (snapshot,) = again.until("conversation")
        question, answer = snapshot["messages"]
        assert (question["text"], answer["status"]) == (QUESTION, "failed")
        assert FACT.split()[0] in answer["text"]  # what had been shown stays
        equal = stack.index_equals_after_last_edit(going, began)
    assert stack.run.web() != web
    first = f"edits {edits:.1f} s, first words {going.writes_again(after=began):.1f} s"
    print(f"\nweb killed: {first}, a whole answer {back:.1f} s, index {equal:.1f} s")


def test_without_its_language_model_no_answer_fails_and_it_writes_again_when_it_is_back(stack: Cluster) -> None:
    with stack.busy() as going:
        stack.llm.breaks(1_000_000)
        gone = time.monotonic()
        time.sleep(MINUTE)  # many times as long as a failing endpoint is left alone
        stack.llm.says(FACT)
        began = time.monotonic()

        def written() -> bool:
            conversations = [one.conversation for one in going.answered if one.asked > began]
            found = stack.row(
                "SELECT count(*) FROM chat_message WHERE conversation_id = ANY(%s::uuid[]) AND strategy = 'generated'",
                conversations,
            )
            return bool(found[0])

        wait_until(written, 120)
        back = time.monotonic() - began
        meanwhile = [one for one in going.answered if gone + 1 < one.asked and one.ended < began]
        assert meanwhile
        assert {one.status for one in meanwhile} <= {"complete", "abstained"}
    print(f"\nmodel away: {len(meanwhile)} answers without it meanwhile; it writes again after {back:.1f} s")


def test_two_workers_with_one_task_do_it_once(stack: Cluster) -> None:
    """A broker may hand out a task twice: each of these is worked on by two workers, at once as is seen."""
    with stack.busy() as going, stack.second_worker("again") as second:
        stack.run.does(MANY.format(name="first", parts=1, count=1) + SAVE_AND_QUEUE)
        wait_until(lambda: second.done(INDEX_TASK) == 1, 120)  # it has loaded the model
        stack.run.does(MANY.format(name="twice", parts=150, count=3) + SAVE_AND_QUEUE)
        began = time.monotonic()
        wait_until(lambda: bool(second.shared()), 60)
        wait_until(lambda: second.done(INDEX_TASK) == 4, 120)
        wait_until(lambda: stack.row(INDEXED, "%twice-%") == (3,), 120)
        equal = stack.index_equals_after_last_edit(going, began)
    doubled = stack.row(
        "SELECT count(*) FROM (SELECT 1 FROM knowledge_passage GROUP BY generation_id, document_id, position "
        "HAVING count(*) > 1) doubled"
    )
    assert doubled == (0,)
    print(f"\neach of 3 tasks by two workers at once: index {equal:.1f} s")


def test_two_workers_with_one_crawl_crawl_once(stack: Cluster) -> None:
    with serving(small) as site, stack.busy(), stack.second_worker("again") as second:
        stack.run.does(CRAWL.format(url=site.url("/"), name="Twice") + CRAWL_AGAIN)
        wait_until(lambda: second.done("knowledge.tasks.run_crawl") == 1, 120)
        runs = "SELECT count(*), count(*) FILTER (WHERE state = 'finished') FROM knowledge_crawlrun r " + (
            "JOIN knowledge_source s ON s.id = r.source_id WHERE s.name = 'Twice'"
        )
        wait_until(lambda: stack.row(runs) == (1, 1), 240)
        pages = stack.row(
            "SELECT count(*), count(DISTINCT url) FROM knowledge_document WHERE url LIKE %s", f"{site.base}%"
        )
    assert pages == (len(site.answers), len(site.answers))
