"""Generations of the index: which one answers questions, and how another replaces it.

A generation is one embedding model and one way of cutting. When the settings ask for another, its passages and vectors
are built beside the live ones. Questions are answered from the live ones until the new ones are complete, and the
switch is one transaction. A process that answers questions follows with its next question.
"""

from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.dispatch import Signal
from django.utils import timezone

from core.db.locks import Lock, hold_until_commit
from core.hashing import fingerprint
from core.inference.embeddings import Embedder, get_embedder
from knowledge.models import Generation, Passage, Unit

State = Generation.State
#: Changes with the code that cuts: passages of another version are cut again.
CUTTING_VERSION = "2"
#: Questions that began before a switch, and processes that still load the new index, use the old one for this time.
GRACE = timedelta(minutes=15)
INDEXED_TABLES = (Passage._meta.db_table, Unit._meta.db_table)
#: Sent with `generation` whenever a generation holds all documents, before it goes live: a receiver builds what else it
#: must hold, such as the FAQs, and returns how much that was.
generation_built = Signal()


def cutting_recipe(passage_tokens: int) -> str:
    return fingerprint(CUTTING_VERSION, str(passage_tokens))


def load_embedder(generation: Generation) -> Embedder:
    """Load the model that the generation's vectors are made with; raises EmbeddingUnavailable."""
    return get_embedder(generation.model)


def live_generation() -> Generation:
    """Return the generation that questions are answered from; in an empty database, create it from the settings."""
    found = Generation.objects.filter(state=State.LIVE).first()
    if found is None:
        with transaction.atomic():
            _lock()
            found = Generation.objects.filter(state=State.LIVE).first()
            if found is None:
                found = _wanted(state=State.LIVE, live_at=timezone.now())
                found.save()
                create_indexes(found, concurrently=False)
    return found


def active_generations() -> list[Generation]:
    """Return the generations that edits must reach: the live one, then the one being built."""
    live = live_generation()
    return [live, *Generation.objects.filter(state=State.BUILDING)]


def generation_to_build() -> Generation | None:
    """Return the generation that the settings ask for if it is not the live one, created if need be."""
    wanted, live = _wanted(), live_generation()
    with transaction.atomic():
        _lock()
        building = Generation.objects.filter(state=State.BUILDING).first()
        if building and _recipe(building) != _recipe(wanted):  # the settings changed again
            _retire(building)
            building = None
        if _recipe(live) == _recipe(wanted):
            if building:
                _retire(building)
            return None
        if building is None:
            wanted.save()
        return building or wanted


def go_live(generation: Generation) -> None:
    """Make a built generation the live one; do not call this inside a transaction."""
    create_indexes(generation, concurrently=True)
    with transaction.atomic():
        _lock()
        for old in Generation.objects.filter(state=State.LIVE):
            _retire(old)
        generation.state, generation.live_at = State.LIVE, timezone.now()
        generation.save(update_fields=["state", "live_at"])


def delete_retired() -> int:
    """Delete the contents of retired generations once nobody can be answering from them; return how many."""
    old = list(Generation.objects.filter(state=State.RETIRED, retired_at__lt=timezone.now() - GRACE))
    for generation in old:
        drop_indexes(generation)
        for model in (Unit, Passage):  # in batches: one long transaction would hold up everything else
            while ids := list(model.objects.filter(generation=generation).values_list("pk", flat=True)[:5000]):
                model.objects.filter(pk__in=ids).delete()
        generation.delete()
    return len(old)


def create_indexes(generation: Generation, *, concurrently: bool) -> None:
    """Create HNSW indexes (Malkov and Yashunin 2018) over one generation's vectors, which all have one length."""
    how = "CONCURRENTLY" if concurrently else ""
    with connection.cursor() as cursor:
        for table in INDEXED_TABLES:
            name = _index_name(table, generation)
            cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
            if (row := cursor.fetchone()) and row[0]:
                continue
            if row:  # left by a build that was killed
                cursor.execute(f"DROP INDEX {name}")
            cursor.execute(
                f"CREATE INDEX {how} {name} ON {table}"
                f" USING hnsw ((embedding::halfvec({generation.dimensions:d})) halfvec_cosine_ops)"
                f" WITH (m = 16, ef_construction = 200) WHERE generation_id = {generation.pk:d}"
            )


def drop_indexes(generation: Generation) -> None:
    with connection.cursor() as cursor:
        for table in INDEXED_TABLES:
            cursor.execute(f"DROP INDEX IF EXISTS {_index_name(table, generation)}")


def _wanted(**values: object) -> Generation:
    embedder = get_embedder()
    return Generation(
        model=embedder.model,
        embedder=embedder.recipe,
        dimensions=embedder.dimensions,
        passage_tokens=settings.PASSAGE_TOKENS,
        cutting=cutting_recipe(settings.PASSAGE_TOKENS),
        **values,
    )


def _recipe(generation: Generation) -> tuple[str, str]:
    return generation.embedder, generation.cutting


def _retire(generation: Generation) -> None:
    generation.state, generation.retired_at = State.RETIRED, timezone.now()
    generation.save(update_fields=["state", "retired_at"])


def _lock() -> None:
    """Lock generations, so that they begin, go live and are deleted one at a time."""
    hold_until_commit(Lock.GENERATION)


def _index_name(table: str, generation: Generation) -> str:
    return f"{table}_hnsw_{generation.pk}"
