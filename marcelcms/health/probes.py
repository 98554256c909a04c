"""What this process needs: without database or Valkey it cannot answer; without the rest it answers less well."""

from django.conf import settings
from django.db import connection
from django.db.models import Min
from django.utils import timezone

from knowledge.inference import chat_model
from knowledge.models import Document, Generation
from knowledge.retrieval.lexical_index import newest_change
from knowledge.retrieval.serving import loaded_indexes
from marcelcms import signs_of_life
from marcelcms.health.probing import Probe, Reading, Status

#: An edit counts within seconds; a longer wait means that nobody takes it in.
STALE_SECONDS = 300
#: Workers leave a sign every 10 s, beat every 30 s.
WORKER_SECONDS, BEAT_SECONDS = 60, 180


def database() -> Reading:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return Reading(Status.OK)


def valkey() -> Reading:
    signs_of_life.valkey(settings.REDIS_URL).ping()
    return Reading(Status.OK)


def index() -> Reading:
    """How long the oldest change waits for the index, and by how many changes this process's words lag behind: it
    takes them in with its next question."""
    live = Generation.objects.filter(state=Generation.State.LIVE).first()
    pending = Document.objects.needing_index(live.pk) if live else Document.objects.all()
    oldest = pending.aggregate(oldest=Min("updated_at"))["oldest"]
    seconds = max(0.0, (timezone.now() - oldest).total_seconds()) if oldest else 0.0
    figures = {"oldest_change_seconds": round(seconds), "changes_behind": changes_behind()}
    return Reading(Status.DEGRADED if seconds > STALE_SECONDS else Status.OK, figures)


def changes_behind() -> int:
    """Of the lexical index that answers; 0 where none is loaded yet."""
    indexes = loaded_indexes()
    return max(0, newest_change() - indexes[max(indexes)].at) if indexes else 0


def workers() -> Reading:
    """Every queue has a worker."""
    names = [signs_of_life.worker_of(queue) for queue in signs_of_life.queues()]
    ages = signs_of_life.seconds_since(names)
    is_well = all(age is not None and age <= WORKER_SECONDS for age in ages.values())
    return Reading(Status.OK if is_well else Status.DEGRADED)


def beat() -> Reading:
    """Beat queued a task, and a worker ran it, not long ago."""
    age = signs_of_life.seconds_since([signs_of_life.BEAT])[signs_of_life.BEAT]
    return Reading(Status.OK if age is not None and age <= BEAT_SECONDS else Status.DEGRADED)


def language_model() -> Reading:
    """By what the last calls met, since a call of its own would cost; answers are quoted where it is away."""
    return Reading(Status.DEGRADED if chat_model.has_failed() else Status.OK)


PROBES = (
    Probe("database", database, worst=Status.FAILING),
    Probe("valkey", valkey, worst=Status.FAILING),
    Probe("index", index, worst=Status.DEGRADED, kept_seconds=10),
    Probe("workers", workers, worst=Status.DEGRADED),
    Probe("beat", beat, worst=Status.DEGRADED),
    Probe("llm", language_model, worst=Status.DEGRADED),
)
