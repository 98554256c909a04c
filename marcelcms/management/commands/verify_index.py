import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.inference.embeddings import EmbeddingUnavailable
from core.management import progress_bar
from faqs import indexing as faq_verifying
from knowledge.models import Document, Generation
from knowledge.services import verification
from knowledge.services.verification import Part


class Command(BaseCommand):
    help = (
        "Proves that the index equals the database: cuts every document anew, compares passages, sentences, vectors "
        "and the words' index with what is there, and FAQs with their vectors. Changes nothing; ends with 1 where "
        "something differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every-vector", action="store_true", help="embed everything again, which takes as long as indexing it"
        )
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def handle(self, *, every_vector: bool, json: bool, **options: Any) -> None:
        try:
            parts = self.verify(every_vector=every_vector)
        except EmbeddingUnavailable as error:
            raise CommandError(f"Vectors cannot be compared: {error}") from error
        wrong = sum(part.wrong for part in parts)
        self.stdout.write(_as_json(parts) if json else _as_text(parts))
        if wrong:
            raise CommandError(
                "The index does not equal the database. `manage.py reindex` brings up to date what is pending; where "
                "that changes nothing, save the documents named above again."
            )

    def verify(self, *, every_vector: bool) -> list[Part]:
        with verification.one_moment(), progress_bar("Comparing") as show:
            live = Generation.objects.filter(state=Generation.State.LIVE).first()
            if live is None:  # nothing was ever indexed
                documents = Part("documents", checked=Document.objects.count())
                for pk in Document.objects.values_list("pk", flat=True):
                    documents.report(f"document {pk}: not indexed")
                return [documents]
            parts = verification.verify(live, every_vector=every_vector, progress=show)
            return [*parts, faq_verifying.verify(live, every_vector=every_vector)]


def _as_json(parts: list[Part]) -> str:
    return json.dumps({"equal": not any(part.wrong for part in parts), "parts": [asdict(part) for part in parts]})


def _as_text(parts: list[Part]) -> str:
    lines = []
    for part in parts:
        lines.append(f"{part.name:<28}{part.checked:>9,}  {f'{part.wrong:,} wrong' if part.wrong else 'equal'}")
        lines += [f"    {fault}" for fault in part.faults]
        if part.wrong > len(part.faults):
            lines.append(f"    and {part.wrong - len(part.faults):,} more")
    return "\n".join(lines)
