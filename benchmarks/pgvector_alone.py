"""`python -m benchmarks.pgvector_alone`: a process that embeds a question and asks pgvector for the nearest passages.

The same models and table as ours, one plain statement, which compares all passages: the indexes are of one generation
each, and only a statement that names it as ours does uses one. A JSON question a line in, its times out.
"""

import json
import os
import sys
import time

from benchmarks.environment import say_json
from benchmarks.measuring import resident_mib

#: As many as an answer has sources.
NEAREST = 6
STATEMENT = """
SELECT document.title, document.url, passage.text
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE passage.generation_id = %s ORDER BY passage.embedding <=> %s::halfvec LIMIT %s
"""


def main() -> None:
    started = time.perf_counter()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
    django.setup()

    from django.db import connection

    from core.inference.embeddings import get_embedder
    from knowledge.indexing.generations import live_generation

    embedder, generation = get_embedder(), live_generation().pk
    embedder.embed(["ready"])
    say_json({"load_s": round(time.perf_counter() - started, 2), "mib": resident_mib()})
    with connection.cursor() as cursor:
        for line in sys.stdin:
            question = json.loads(line)
            if question is None:
                say_json({"mib": resident_mib()})
                continue
            started = time.perf_counter()
            vector = embedder.embed_questions([question])[0]
            embedded = time.perf_counter()
            cursor.execute(STATEMENT, [generation, str(vector.tolist()), NEAREST])
            found = cursor.fetchall()
            ended = time.perf_counter()
            steps = {"embed": (embedded - started) * 1000, "dense": (ended - embedded) * 1000}
            say_json({"ms": (ended - started) * 1000, "steps": steps, "found": [url for _title, url, _text in found]})


if __name__ == "__main__":
    main()
