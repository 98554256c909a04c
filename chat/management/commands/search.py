import json
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError

from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.profiles import Profile, UnknownProfile, get_profile, retrieve_with
from chat.pipeline.understanding.hyde import hypothesise
from core.db.reading import read_current
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.dense import DenseRetriever, HydeRetriever
from knowledge.retrieval.scope import UnknownCollection, build_scope
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Scope, matched_parts

#: Characters shown of a passage, and around the part of it that was matched.
EXCERPT, CONTEXT = 160, 60


class Command(BaseCommand):
    help = "Shows the passages that a question retrieves, best first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", metavar="QUERY")
        parser.add_argument("--profile", default="default", metavar="NAME", help="(default: %(default)s)")
        parser.add_argument(
            "--collection", action="append", default=[], metavar="SLUG", help="search this one only; may be repeated"
        )
        parser.add_argument("--k", type=int, default=50, help="how many passages (%(default)s)")
        parser.add_argument("--json", action="store_true", help="one JSON document and nothing else")

    def handle(self, **options: Any) -> None:
        read_current(partial(self._search, **options))

    def _search(self, *, query: str, profile: str, collection: list[str], k: int, **options: Any) -> None:
        if not 1 <= k <= 1000:
            raise CommandError("--k takes a number from 1 to 1000.")
        try:
            chosen, scope = get_profile(profile), build_scope(collection)
            guesses = async_to_sync(hypothesise)(query) if chosen.uses_hyde else ()
            retrieval = retrieve_with(chosen, query, scope=scope, k=k, guesses=guesses)
        except (UnknownProfile, UnknownCollection, RerankerUnavailable, EmbeddingUnavailable) as error:
            raise CommandError(str(error)) from error
        fused = {hit.passage_id: hit for hit in retrieval.hits}
        matched = matched_parts(retrieval.runs.values())
        rows: list[dict[str, Any]] = [
            {
                "rank": rank,
                "document": candidate.document_id,
                "url": candidate.url,
                "title": candidate.title,
                "heading": candidate.heading,
                "page": candidate.page,
                "text": candidate.text,
                "score": fused[candidate.passage_id].score,
                "origins": {str(origin): place for origin, place in fused[candidate.passage_id].ranks.items()},
            }
            | ({"matched": matched[candidate.passage_id]} if candidate.passage_id in matched else {})
            for rank, candidate in enumerate(load_candidates(retrieval.hits), start=1)
        ]
        for said in lacking(chosen, retrieval, scope):
            self.stderr.write(said)
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        if not rows:
            self.stdout.write("Nothing was found.")
        for row in rows:
            origins = ", ".join(f"{origin} {place}" for origin, place in row["origins"].items())
            self.stdout.write(f"{row['rank']:>3}. {row['title']} › {row['heading']}  ({row['score']:.4f}: {origins})")
            self.stdout.write(f"     {row['url']}\n     {excerpt(row['text'], row.get('matched', ''))}")


def lacking(profile: Profile, retrieval: Retrieval, scope: Scope) -> Iterator[str]:
    """Says which finer parts the profile asks for that the searched collections have none of."""
    for leg in profile.legs:
        retriever = leg.retriever
        if isinstance(retriever, HydeRetriever) and retrieval.query.guess is None:
            yield "No guess was made (HyDE): it needs a language model that answers in time."
        if isinstance(retriever, DenseRetriever) and not retriever.has_units(retrieval.query, scope=scope):
            yield (
                f"The collections that were searched have no {retriever.granularity}s: "
                "have them indexed in the collection's settings."
            )


def excerpt(text: str, matched: str) -> str:
    """Return the passage's beginning or, marked, the part of it that the question was compared with."""
    if not matched:
        return repr(text[:EXCERPT])
    before, found, after = text.partition(matched)
    if not found:  # a proposition is said in its own words
        return f"»{matched}«"
    return repr(f"{before[-CONTEXT:]}»{found}«{after[:CONTEXT]}")
