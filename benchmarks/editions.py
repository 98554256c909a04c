"""Editions: how well they are grouped, and which edition answers, before and after.

Before is the same without any group: nothing tells the pages of several terms apart but the words of the question. All
pages are made up (`benchmarks.editions_pages`), with a fixed seed.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from django.utils import timezone

from benchmarks.editions_pages import Matter, Page, make_decoys, make_matters, ways_to_ask
from benchmarks.measuring import percentiles, say, table
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from chat.pipeline.run import collect
from knowledge.editions.terms import month_of, name_term, names, term_at
from knowledge.indexing.documents import sync_pending
from knowledge.ingest.crawl_jobs.importer import save_page
from knowledge.ingest.crawler.messages import Page as CrawledPage
from knowledge.ingest.crawler.messages import likeness
from knowledge.models import Collection, Edition, EditionGroup, Source
from knowledge.retrieval.scope import build_scope
from knowledge.services.crawls import save_source

SLUG = "editions"
REPEATS = 5


def measure() -> dict[str, Any]:
    now = month_of(timezone.localdate())
    matters, decoys = make_matters(now), make_decoys(now)
    load([*(page for matter in matters for page in matter.pages), *decoys])
    results: dict[str, Any] = {
        "matters": len(matters),
        "pages": sum(len(matter.pages) for matter in matters),
        "decoys": len(decoys),
        "grouping": grouping([*(page for matter in matters for page in matter.pages), *decoys]),
        "after": answers(matters, now),
    }
    groups = dict(Edition.objects.exclude(group=None).values_list("document", "group"))
    results["ms_after"] = milliseconds(matters)
    Edition.objects.update(group=None)
    kept = list(EditionGroup.objects.all())
    EditionGroup.objects.all().delete()
    results["before"] = answers(matters, now)
    results["ms_before"] = milliseconds(matters)
    EditionGroup.objects.bulk_create(kept)
    for document, group in groups.items():
        Edition.objects.filter(document=document).update(group=group)
    report(results)
    return results


def load(pages: Sequence[Page]) -> None:
    """Save the pages as a crawl does, which tells their titles apart and groups them, and index them."""
    collection, _made = Collection.objects.get_or_create(slug=SLUG, defaults={"name": SLUG})
    source = save_source(source=Source(name=SLUG, collection=collection, start_urls=[pages[0].url]))
    for page in pages:
        crawled = CrawledPage(
            url=page.url,
            etag="",
            last_modified="",
            likeness=likeness(page.title, page.text),
            links=(),
            title=page.title,
            language=page.language,
            markdown=page.text,
            references=(),
            open_graph={},
            favicon="",
            modified="",
        )
        applied = save_page(source, crawled)
        if applied.document_id is None:
            raise RuntimeError(f"{page.url} was not saved: {applied.remarks}")
    sync_pending()


def grouping(pages: Sequence[Page]) -> dict[str, float]:
    """Return precision and recall of pairs of pages that are in one group."""
    by_url = {page.url: page for page in pages}
    rows = Edition.objects.filter(document__url__in=by_url).values_list("document__url", "group", "begins", "ends")
    group = {url: number for url, number, _begins, _ends in rows}
    read = {url: (begins, ends) for url, _number, begins, ends in rows}
    right = wrong = lost = 0
    for one, other in combinations(pages, 2):
        is_pair = one.matter == other.matter and one.language == other.language and one.term != other.term
        is_found = group[one.url] is not None and group[one.url] == group[other.url]
        right, wrong = right + (is_pair and is_found), wrong + (is_found and not is_pair)
        lost += is_pair and not is_found
    terms = sum(read[page.url][0] is not None and month_of(read[page.url][0]) == page.term.begin for page in pages)
    return {
        "pairs": right + lost,
        "found": right,
        "wrong": wrong,
        "precision": right / (right + wrong) if right + wrong else 1.0,
        "recall": right / (right + lost),
        "terms_read": terms / len(pages),
    }


def answers(matters: Sequence[Matter], now: int) -> dict[str, dict[str, int]]:
    """Count, by kind of question: answered with the right figure alone, with others too, with others alone, not."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    missing = term_at(now + 72)
    for number, matter in enumerate(matters):
        for kind, question, page in ways_to_ask(matter, number, missing):
            said = ask(question, matter.language)
            label = "regulations, none named" if matter.is_regulations and kind == "no term" else kind
            wanted = {page.answer} if page else set()
            if label == "regulations, none named":
                wanted = {each.answer for each in matter.pages}
            outcome = judge(said["text"], wanted, {each.answer for each in matter.pages})
            found[label][outcome] += 1
            found[label]["asked"] += 1
            shown = [each for each in matter.pages if each.answer in said["text"]]
            spoken = f"{said['text']} {said['editions']}"
            found[label]["named"] += bool(shown) and all(
                names(spoken, name_term(each.term, matter.language)) for each in shown
            )
    return {kind: dict(counts) for kind, counts in found.items()}


def judge(text: str, wanted: set[str], all_of_them: set[str]) -> str:
    shown = {figure for figure in all_of_them if figure in text}
    if not shown:
        return "none"
    if shown == wanted:
        return "right"
    return "mixed" if shown & wanted else "wrong"


def ask(question: str, language: str) -> dict[str, str]:
    reply = asyncio.run(collect(build_question(None, question, language)))
    editions = " ".join(source.edition for source, _document in reply.sources)
    return {"text": reply.text, "editions": editions}


def milliseconds(matters: Sequence[Matter]) -> dict[str, Any]:
    """Return what a question costs in all, and what its editions do, in ms."""
    whole, own = [], []
    scope = build_scope()
    for _ in range(REPEATS):
        for matter in matters:
            timings = retrieve_with(PROFILES["default"], f"{matter.question}?", scope=scope, k=14).timings_ms
            whole.append(sum(timings.values()))
            own.append(timings.get("editions", 0.0) + timings.get("prefer", 0.0))
    return {"retrieval": percentiles(whole), "editions": percentiles(own)}


def report(results: dict[str, Any]) -> None:
    found = results["grouping"]
    say(
        f"{results['matters']} matters in {results['pages']} pages, and {results['decoys']} that only look alike: "
        f"{found['found']} of {found['pairs']} pairs found, {found['wrong']} wrong; "
        f"precision {found['precision']:.3f}, recall {found['recall']:.3f}; terms read {found['terms_read']:.3f}"
    )
    columns = ("asked", "right", "mixed", "wrong", "none", "named")
    rows = [
        [kind, when, *(str(results[when].get(kind, {}).get(column, 0)) for column in columns)]
        for kind in results["after"]
        for when in ("before", "after")
    ]
    table(["question", "", *columns], rows)
    say(f"ms before: {results['ms_before']}, after: {results['ms_after']}")
