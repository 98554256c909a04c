from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.inference.embeddings import EmbeddingUnavailable
from core.inference.embeddings.exporting.export import export_model

#: Vectors further from the original's rank other passages first.
LEAST_COSINE = 0.98


class Command(BaseCommand):
    help = (
        "Exports the folder of a sentence-transformers model to a folder that EMBEDDING_MODEL can name and that needs "
        "no torch. A model of BERT's kind multiplies in int8 there; others keep their weights. Only this command needs "
        "the extra sentence-transformers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the model's folder")
        parser.add_argument("target", type=Path, help="a new folder for what is exported")
        prefix = "what the model wants before a {}, with the space after it; the model's own prompt if not given"
        parser.add_argument("--question-prefix", metavar="TEXT", help=prefix.format("question"))
        parser.add_argument("--passage-prefix", metavar="TEXT", help=prefix.format("passage"))

    def handle(
        self, *, folder: Path, target: Path, question_prefix: str | None, passage_prefix: str | None, **options: Any
    ) -> None:
        if not (folder / "modules.json").is_file():
            raise CommandError(f"{folder} is no folder of a sentence-transformers model: it has no modules.json.")
        if target.exists():
            raise CommandError(f"{target} exists already: name a new folder.")
        try:
            found = export_model(
                folder, target.absolute(), question_prefix=question_prefix, passage_prefix=passage_prefix
            )
        except EmbeddingUnavailable as error:
            raise CommandError(str(error)) from error
        said = (
            f"cosine to sentence-transformers on {found.texts} texts: {found.mean:.3f} in the mean, {found.least:.3f}"
        )
        if found.least < LEAST_COSINE:
            raise CommandError(f"{said} at least, which is too low (under {LEAST_COSINE}): do not use {target}.")
        kind = "multiplies in int8" if found.is_int8 else "has its weights as they are, since it is not of BERT's kind"
        self.stdout.write(f"{said} at least. It {kind}. Set EMBEDDING_MODEL={target.absolute()}")
