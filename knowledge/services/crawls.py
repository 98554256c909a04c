"""Changes to sources and crawls: check, save, queue after commit."""

import json
import re
from datetime import datetime

from celery.schedules import crontab
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from knowledge.ingest.crawl_jobs.runs import archive_lost, queue_run
from knowledge.ingest.crawler.frontier import normalised
from knowledge.models import CrawlRun, Source
from knowledge.tasks import crawl_source, index_document, run_crawl

State = CrawlRun.State
HOST = re.compile(r"[\w.:-]+")


@transaction.atomic
def save_source(*, source: Source) -> Source:
    """Save a source and its schedule. Raises ValidationError."""
    _check_addresses(source)
    source.full_clean(exclude=["collection"] if source.collection_id else None)
    source.save()
    _keep_schedule(source)
    return source


@transaction.atomic
def delete_source(*, source: Source) -> None:
    """Delete a source; its documents stay, and nothing crawls them any more."""
    PeriodicTask.objects.filter(name=_schedule_name(source)).delete()
    source.delete()


@transaction.atomic
def start_crawl(*, source: Source) -> CrawlRun:
    """Create a run that a worker begins at once, or return the one that is queued or running already."""
    run_id = queue_run(source.pk)
    if run_id is None:
        return source.runs.latest("created_at")
    run_crawl.delay_on_commit(run_id)
    return CrawlRun.objects.get(pk=run_id)


@transaction.atomic
def cancel_run(*, run: CrawlRun) -> bool:
    """End it within seconds; what it found so far stays. Return False if it had ended."""
    return run.cancel()


@transaction.atomic
def accept_loss(*, run: CrawlRun) -> int | None:
    """Accept that the pages of a held run are gone, and archive them.

    Returns how many documents that were; None if it was decided already.
    """
    if not _decide(run):
        return None
    archived = archive_lost(run)
    for document_id in archived:
        index_document.delay_on_commit(document_id)
    return len(archived)


@transaction.atomic
def keep_pages(*, run: CrawlRun) -> bool:
    """Keep the pages of a held run as they are. Return whether it still waited for the decision."""
    return _decide(run)


def _check_addresses(source: Source) -> None:
    """Check the addresses; raises ValidationError naming what could never match a page."""
    if not source.start_urls:
        raise ValidationError({"start_urls": _("Name at least one start address.")})
    for url in source.start_urls:
        if not normalised(url):
            text = _("“%(url)s” is no address such as https://www.uni.example/.") % {"url": url[:200]}
            raise ValidationError({"start_urls": text})
    for field in ("allow", "deny"):
        for pattern in getattr(source, field):
            if not pattern.strip().startswith(("http://", "https://", "*")):
                text = _("“%(pattern)s” must begin as an address does, with https://, or with *.")
                raise ValidationError({field: text % {"pattern": pattern[:200]}})
    for domain in source.domains:
        if not HOST.fullmatch(domain.strip()):
            text = _("“%(domain)s” is no name of a host such as www.uni.example.") % {"domain": domain[:200]}
            raise ValidationError({"domains": text})


def _decide(run: CrawlRun) -> bool:
    """End the wait for a decision; return whether it still waited, since a later crawl may have asked again."""
    finished = {"state": State.FINISHED, "finished_at": timezone.now()}
    return bool(CrawlRun.objects.filter(pk=run.pk, state=State.HELD).update(**finished))


def _schedule_name(source: Source) -> str:
    return f"crawl-source-{source.pk}"


def next_crawl(source: Source, now: datetime) -> datetime | None:
    """Return when a source is crawled next by schedule; None: never."""
    times = _times(source)
    return now + crontab(**times, nowfun=lambda: now).remaining_estimate(now) if times else None


def _times(source: Source) -> dict[str, str]:
    """Return the schedule as crontab's fields; empty: never."""
    every = Source.Every
    if source.every == every.NEVER:
        return {}
    return {
        "minute": str(source.pk % 60),  # not all sources in the same minute
        "hour": "*" if source.every == every.HOUR else str(source.at_hour),
        "day_of_week": "0" if source.every == every.WEEK else "*",
    }


def _keep_schedule(source: Source) -> None:
    """Save the source's periodic task; Celery's beat notices every change."""
    times = _times(source)
    if not times:
        PeriodicTask.objects.filter(name=_schedule_name(source)).delete()
        return
    schedule, _created = CrontabSchedule.objects.get_or_create(
        **times, day_of_month="*", month_of_year="*", timezone=settings.TIME_ZONE
    )
    values = {"task": crawl_source.name, "args": json.dumps([source.pk]), "crontab": schedule, "enabled": True}
    PeriodicTask.objects.update_or_create(name=_schedule_name(source), defaults=values)
