from typing import Any

from django.core.management.base import BaseCommand

from chat.pipeline.understanding.kind_classifier import FITTED, load_kind_examples
from chat.pipeline.understanding.kind_fitting import fit_classifier, measure_language_means
from core.inference.embeddings.language_means import MEASURED, save_means


class Command(BaseCommand):
    help = (
        "Fits the classifier of kinds of messages to chat/pipeline/understanding/examples, after an example was "
        "changed, there or in its folder kinds. The vectors that languages have in common are measured anew too."
    )
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        classifier = fit_classifier()
        classifier.save(FITTED)
        number = len(load_kind_examples())
        self.stdout.write(f"{number} examples, {len(classifier.support)} support vectors: {FITTED.name}")
        save_means(measure_language_means())
        self.stdout.write(f"Means of languages: {MEASURED.name}")
