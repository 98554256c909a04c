import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.profiles import PROFILES, get_profile, retrieve_with
from chat.sources import load_candidates
from knowledge.retrieval.hybrid import UnknownCollection, scope_of


class Command(BaseCommand):
    help = "Shows the passages that a question retrieves, best first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", metavar="QUERY")
        parser.add_argument("--profile", default="default", choices=sorted(PROFILES), help="(default: %(default)s)")
        parser.add_argument(
            "--collection", action="append", default=[], metavar="SLUG", help="search this one only; may be repeated"
        )
        parser.add_argument("--k", type=int, default=50, help="how many passages (%(default)s)")
        parser.add_argument("--json", action="store_true", help="one JSON document and nothing else")

    def handle(self, *, query: str, profile: str, collection: list[str], k: int, **options: Any) -> None:
        if not 1 <= k <= 1000:
            raise CommandError("--k takes a number from 1 to 1000.")
        try:
            retrieval = retrieve_with(get_profile(profile), query, scope=scope_of(collection), k=k)
        except UnknownCollection as error:
            raise CommandError(str(error)) from error
        fused = {hit.passage_id: hit for hit in retrieval.hits}
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
                "origins": {origin.value: place for origin, place in fused[candidate.passage_id].ranks.items()},
            }
            for rank, candidate in enumerate(load_candidates(retrieval.hits), start=1)
        ]
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        if not rows:
            self.stdout.write("Nothing was found.")
        for row in rows:
            origins = ", ".join(f"{origin} {place}" for origin, place in row["origins"].items())
            self.stdout.write(f"{row['rank']:>3}. {row['title']} › {row['heading']}  ({row['score']:.4f}: {origins})")
            self.stdout.write(f"     {row['url']}\n     {str(row['text'])[:160]!r}")
