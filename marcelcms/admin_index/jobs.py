"""Jobs in the background that failed or stand still."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import redis
from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.models import EvaluationRun, ReviewFeed, ShadowTest, StoredReport
from chat.models import Webhook
from knowledge.models import Generation
from marcelcms.admin_index.pending import PendingCount, PendingItem, list_url, news_start
from marcelcms.health import heartbeats

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Workers send a heartbeat every ten seconds and look for answers to review once a minute; a longer silence is a fault.
SILENCE = timedelta(minutes=10)
#: Queue -> message when its workers are silent.
WAITING = {
    "celery": gettext_lazy(
        "The worker has been silent since %(at)s: edits and answers to review wait. Tell whoever runs this server."
    ),
    "long": gettext_lazy(
        "The worker for long jobs has been silent since %(at)s: PDFs, new indexes, unanswered topics and tests "
        "wait. Tell whoever runs this server."
    ),
    "crawl": gettext_lazy(
        "The worker for websites has been silent since %(at)s: no website is read. Tell whoever runs this server."
    ),
    "reports": gettext_lazy(
        "The worker for reports has been silent since %(at)s: reports wait. Tell whoever runs this server."
    ),
}
#: A new search index takes hours; one that took longer needs somebody.
LONG_BUILD = timedelta(hours=24)


def failed_jobs(user: "User") -> Iterator[PendingCount]:
    """Yield the evaluations, tests and reports that failed lately, webhooks that switched themselves off,
    and search indexes that take too long."""
    since = news_start()
    if user.has_perm("analytics.add_evaluationrun"):
        yield PendingCount(
            EvaluationRun.objects.visible_to(user).filter(state=EvaluationRun.State.FAILED, created_at__gte=since),
            lambda n: ngettext(
                "%d run of test questions failed in the last 7 days.",
                "%d runs of test questions failed in the last 7 days.",
                n,
            ),
            list_url("analytics_evaluationrun", state__exact=EvaluationRun.State.FAILED.value, created_at__gte=since),
        )
    if user.has_perm("analytics.add_shadowtest"):
        yield PendingCount(
            ShadowTest.objects.visible_to(user).filter(state=ShadowTest.State.FAILED, created_at__gte=since),
            lambda n: ngettext(
                "%d shadow test failed in the last 7 days.", "%d shadow tests failed in the last 7 days.", n
            ),
            list_url("analytics_shadowtest", state__exact=ShadowTest.State.FAILED.value, created_at__gte=since),
        )
    if user.has_perm("analytics.export_reports"):
        yield PendingCount(
            StoredReport.objects.visible_to(user).filter(state=StoredReport.State.FAILED, created_at__gte=since),
            lambda n: ngettext("%d report failed in the last 7 days.", "%d reports failed in the last 7 days.", n),
            list_url("analytics_report"),
        )
    if user.has_perm("chat.change_webhook"):
        yield PendingCount(
            Webhook.objects.visible_to(user).turned_off_by_itself(),
            lambda n: ngettext(
                "%d webhook switched itself off: its receiver accepts nothing.",
                "%d webhooks switched themselves off: their receivers accept nothing.",
                n,
            ),
            list_url("chat_webhook", is_active__exact=0),
        )
    if user.has_perm("knowledge.view_generation"):
        stuck = timezone.now() - LONG_BUILD
        yield PendingCount(
            Generation.objects.filter(state=Generation.State.BUILDING, created_at__lt=stuck),
            lambda n: ngettext(
                "%d new search index has been in the making for more than a day.",
                "%d new search indexes have been in the making for more than a day.",
                n,
            ),
            list_url("knowledge_generation"),
        )


def silent_workers() -> list[PendingItem]:
    """List the silent workers, for everybody: their tasks wait. A worker that never ran is not listed."""
    seen = ReviewFeed.objects.order_by("looked_at").values_list("looked_at", flat=True).first()
    silent = {settings.CELERY_TASK_DEFAULT_QUEUE: seen} if seen and timezone.now() - seen >= SILENCE else {}
    others = {heartbeats.name_worker(queue): queue for queue in WAITING if queue not in silent}
    try:
        ages = heartbeats.seconds_since(others)
    except redis.RedisError:
        return [PendingItem(_("No background job can start: Valkey is not reachable. Tell your administrator."))]
    for sign, age in ages.items():
        if age is not None and age >= SILENCE.total_seconds():
            silent[others[sign]] = timezone.now() - timedelta(seconds=age)
    return [PendingItem(str(WAITING[queue]) % {"at": _time(at)}) for queue, at in silent.items()]


def _time(at: datetime) -> str:
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")
