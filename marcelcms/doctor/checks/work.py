"""Checks of the work behind the answers: index, workers, beat, queues, retention, backups."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from analytics.models import RetentionRun
from core.inference.embeddings import EmbeddingUnavailable
from faqs import indexing as faq_verifying
from knowledge.models import Document, Generation, Passage
from knowledge.retrieval.bm25.shared_index import SharedLexicalIndex
from knowledge.retrieval.live_index import lexical_index
from knowledge.retrieval.tuning import advised_candidates
from knowledge.services import verification
from marcelcms.doctor.findings import Finding, fail, ok, warn
from marcelcms.health import heartbeats
from marcelcms.health.checks import BEAT_SECONDS, WORKER_SECONDS

#: Tasks that wait in one queue.
MANY_TASKS = 500
RETENTION_EVERY = timedelta(hours=36)
BACKUP_EVERY = 2 * 24 * 3600


def index() -> Iterator[Finding]:
    live = Generation.objects.filter(state=Generation.State.LIVE).first()
    if live is None:
        count = Document.objects.count()
        yield (
            fail("index", f"{count} documents, no index", "Run `manage.py reindex`.") if count else ok("index", "empty")
        )
        return
    try:
        with verification.one_moment():
            parts = [*verification.verify(live), faq_verifying.verify(live)]
    except EmbeddingUnavailable:
        yield warn("index", "not compared, since the embedding model is away", "See there.")
        return
    wrong = [part for part in parts if part.wrong]
    for part in wrong:
        said = f"{part.name}: {part.wrong} of {part.checked} differ from the database ({part.faults[0]})"
        yield fail("index", said, "Run `manage.py reindex`, then `manage.py verify_index`.")
    answering = lexical_index(live.pk)
    if isinstance(answering, SharedLexicalIndex) and not answering.is_shared:
        said = f"the lexical index cannot be kept in {settings.LEXICAL_INDEX_FOLDER}: each process holds its own"
        yield warn("index", said, "Let this user write there, or set LEXICAL_INDEX_FOLDER to another local folder.")
    if not wrong:
        yield ok("index", f"equals the database: {parts[0].checked} documents, {parts[1].checked} passages")


def vector_search() -> Iterator[Finding]:
    """Compare HNSW_EF_SEARCH with what as many passages as these need."""
    live = Generation.objects.filter(state=Generation.State.LIVE).first()
    passages = Passage.objects.filter(generation=live).count()
    said = f"{passages:,} passages, HNSW_EF_SEARCH={settings.HNSW_EF_SEARCH}"
    advised = advised_candidates(passages)
    if advised > settings.HNSW_EF_SEARCH:
        todo = f"Set HNSW_EF_SEARCH={advised}, in PgBouncer's connect_query too: a question takes some ms more."
        yield warn("vector search", f"{said}: near passages are missed", todo)
    else:
        yield ok("vector search", said)


def workers() -> Iterator[Finding]:
    ages = heartbeats.seconds_since(map(heartbeats.name_worker, heartbeats.queues()))
    depths = heartbeats.depths()
    for queue, age in zip(heartbeats.queues(), ages.values(), strict=True):
        start = f"Start one: `celery -A marcelcms worker --queues {queue}`."
        if age is None or age > WORKER_SECONDS:
            seen = "never seen" if age is None else f"last seen {age} s ago"
            yield fail("workers", f"no worker of the queue `{queue}`, {seen}; {depths[queue]} tasks wait", start)
        elif depths[queue] > MANY_TASKS:
            yield warn("workers", f"{depths[queue]} tasks wait in `{queue}`", f"If they grow, add a worker. {start}")
        else:
            yield ok("workers", f"`{queue}` is served, {depths[queue]} tasks wait")


def beat() -> Iterator[Finding]:
    age = heartbeats.seconds_since([heartbeats.BEAT])[heartbeats.BEAT]
    if age is None or age > BEAT_SECONDS:
        seen = "never seen" if age is None else f"last seen {age} s ago"
        yield fail(
            "beat", f"nothing is done by the clock, {seen}", "Start one, and only one: `celery -A marcelcms beat`."
        )
    else:
        yield ok("beat", "runs")


def retention() -> Iterator[Finding]:
    last = RetentionRun.objects.exclude(finished_at=None).order_by("-finished_at").first()
    if last and last.finished_at and timezone.now() - last.finished_at < RETENTION_EVERY:
        yield ok("retention", f"last applied {last.finished_at:%Y-%m-%d %H:%M} UTC")
    else:
        said = f"last applied {last.finished_at:%Y-%m-%d}" if last and last.finished_at else "never applied"
        yield warn(
            "retention",
            f"{said}: conversations are kept longer than promised",
            "It runs every night at 3:30; check beat and the workers, then wait for the night.",
        )


def backups() -> Iterator[Finding]:
    age = heartbeats.seconds_since([heartbeats.BACKUP])[heartbeats.BACKUP]
    todo = "Run `manage.py backup FOLDER` every night, and copy its files to another machine."
    if age is None:
        yield warn("backups", "none is known", todo)
    elif age > BACKUP_EVERY:
        yield warn("backups", f"the last one is {age // 86_400} days old", todo)
    else:
        yield ok("backups", f"the last one is {age // 3600} hours old")
