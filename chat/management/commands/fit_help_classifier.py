from typing import Any

from django.core.management.base import BaseCommand

from chat.pipeline.understanding.help_classifier import FITTED
from chat.pipeline.understanding.help_examples import load_examples
from chat.pipeline.understanding.help_fitting import fit_classifier


class Command(BaseCommand):
    help = (
        "Fits the classifier of cries for help to chat/pipeline/understanding/examples, after an example was changed."
    )
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        classifier = fit_classifier()
        classifier.save(FITTED)
        self.stdout.write(f"{len(load_examples())} examples, {len(classifier.support)} support vectors: {FITTED.name}")
