"""All that the doctor looks at, in order; one thing that is away keeps nothing else from being looked at."""

from collections.abc import Iterable, Iterator, Mapping

from django.db import Error as DatabaseError
from redis import RedisError

from marcelcms.doctor.checks import environment, models, replication, servers, work
from marcelcms.doctor.findings import Finding, Look, fail

LOOKS: Mapping[str, Look] = {
    "settings": environment.configuration,
    "database": servers.database,
    "extensions": servers.extensions,
    "migrations": servers.migrations,
    "connections": servers.connections,
    "pooler": servers.pooler,
    "replica": replication.replica,
    "clocks": servers.clocks,
    "valkey": servers.valkey,
    "mail server": servers.mail_server,
    "mailbox": servers.mailbox,
    "disk": environment.media,
    "static files": environment.static_files,
    "crawl browser": environment.crawl_browser,
    "embeddings": models.embeddings,
    "language model": models.language_model,
    "check of sentences": models.check_of_sentences,
    "second judge": models.second_judge,
    "index": work.index,
    "vector search": work.vector_search,
    "workers": work.workers,
    "beat": work.beat,
    "retention": work.retention,
    "backups": work.backups,
    "way in": environment.way_in,
}


def examine(only: Iterable[str] = LOOKS) -> Iterator[Finding]:
    """Yield the findings of some looks, by default of all."""
    for what in only:
        try:
            yield from LOOKS[what]()
        except DatabaseError as error:
            yield fail(
                what, f"the database does not do it: {_said(error)}", "Check DATABASE_URL, the server, and its log."
            )
        except RedisError as error:
            yield fail(what, f"Valkey does not answer: {_said(error)}", "Check REDIS_URL and the server.")
        except OSError as error:
            yield fail(
                what,
                f"{error.strerror or error}: {error.filename or ''}",
                "Check that this user may read and write there.",
            )


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
