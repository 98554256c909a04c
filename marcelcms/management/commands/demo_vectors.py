from typing import Any

import numpy as np
from django.core.management.base import BaseCommand

from core.inference.embeddings.known import passage_key, question_key, write_vectors
from faqs.models import FAQVector
from knowledge.indexing.generations import live_generation
from knowledge.models import Passage
from marcelcms.management.commands.load_demo import VECTORS


class Command(BaseCommand):
    help = "Writes the vectors that load_demo finds ready, from a database that holds the demo alone."

    def handle(self, **options: Any) -> None:
        generation = live_generation()
        passages = Passage.objects.filter(generation=generation).values_list("input_hash", "embedding")
        vectors = {key: np.array(vector) for key, vector in passages}
        of_faqs = FAQVector.objects.filter(generation=generation).values_list("kind", "text", "embedding")
        for kind, text, vector in of_faqs:
            key = question_key if kind == FAQVector.Kind.ASKS else passage_key
            vectors[key(text)] = np.array(vector)
        write_vectors(VECTORS, generation.embedder, vectors)
        self.stdout.write(f"{len(vectors)} vectors written to {VECTORS}.")
