"""Sections of the admin's first page: open tasks that this member of staff may see and act on, in few queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db.models import Count, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.dashboard.formatting import percent
from analytics.inbox.colleagues import may_work
from analytics.inbox.items import TO_DO
from analytics.inbox.notices import describe, unread_notices, with_names
from analytics.inbox.preferences import assigned_to
from analytics.models import EvaluationRun, Gap, GapRun, HeldBackRise, Review, ReviewFeed, ShadowTest, StoredReport
from chat.conversations.impact import stale_documents
from core.access import sees_everything
from faqs.models import FAQ
from knowledge.models import CrawlRun, FlaggedText, Generation, PdfUpload, Source
from marcelcms.health import heartbeats

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Unanswered topics that are named, and items that a colleague assigned.
GAPS, NOTICES = 5, 10
#: A failed job is shown for so many days, today included.
NEWS_DAYS = 7
#: Workers send a heartbeat every ten seconds and look for answers to review once a minute; a longer silence is a fault.
SILENCE = timedelta(minutes=10)
#: Queue -> message when its workers are silent.
WAITING = {
    "celery": gettext_lazy(
        "The worker has been silent since %(at)s: edits and answers to review wait. Tell whoever runs this server."
    ),
    "long": gettext_lazy(
        "The worker for long jobs has been silent since %(at)s: PDFs, new indexes, gaps, evaluations and tests wait. "
        "Tell whoever runs this server."
    ),
    "crawl": gettext_lazy(
        "The worker for crawls has been silent since %(at)s: no source is crawled. Tell whoever runs this server."
    ),
    "reports": gettext_lazy(
        "The worker for reports has been silent since %(at)s: reports wait. Tell whoever runs this server."
    ),
}
#: A new search index takes hours; one that took longer needs somebody.
LONG_BUILD = timedelta(hours=24)
FAQS, CRAWLS = "faqs_faq", "knowledge_crawlrun"


@dataclass(frozen=True, slots=True)
class PendingItem:
    """One open task in a sentence, and the list of exactly the rows it counts; `url` is empty if there is no list."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class PendingCount:
    """Rows to count together with others; `said` gets their number, and is called only if there are any."""

    rows: "QuerySet[Any]"
    said: Callable[[int], str]
    url: str


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    items: Sequence[PendingItem]
    gaps: Sequence[Gap] = ()


def sections_for(user: "User") -> list[Section]:
    """Return the sections with open tasks, what students ran into first."""
    counted = {
        "own": list(_own(user)),
        "watched": list(_watched(user)),
        "content": list(_content(user)),
        "jobs": list(_jobs(user)),
    }
    items = _count_pending(counted, user)
    found = [
        Section(_("Assigned to you"), list(_assigned(user))),
        Section(_("Answers to review"), [*_reviews(user), *_rises(user)]),
        _gaps(user, [*items["own"], *items["watched"]]),
        Section(_("FAQs, pages and sources"), items["content"]),
        Section(_("Jobs in the background"), [*_standing_still(), *items["jobs"]]),
    ]
    return [section for section in found if section.items]


def looks_after_nothing(user: "User") -> bool:
    """Return whether the user's teams are responsible for nothing: they see no row, and the page says why."""
    teams = Group.objects.filter(user=user).exclude(collections=None, assistants=None)
    return not sees_everything(user) and not teams.exists()


def list_url(screen: str, **filters: object) -> str:
    """Return the address of an admin list with these filters."""
    address = reverse(f"admin:{screen}_changelist")
    return f"{address}?{urlencode(filters)}" if filters else address


def to_do_url(**filters: str) -> str:
    """Return the address of the list "To do" with these filters."""
    return f"{reverse('to-do')}?{urlencode(filters)}"


def news_start() -> datetime:
    """Return a midnight, so that a list that is opened later in the day holds the same rows."""
    day = timezone.localdate() - timedelta(days=NEWS_DAYS - 1)
    return timezone.make_aware(datetime.combine(day, time.min))


# --- what colleagues assigned ---


def _assigned(user: "User") -> Iterator[PendingItem]:
    """Yield the newest items that the member was told of and has not opened."""
    if not may_work(user):
        return
    notices = with_names(unread_notices(user))
    for notice in notices[:NOTICES]:
        if notice.gap:
            what, url = _("“%(topic)s”") % {"topic": notice.gap.title}, "admin:analytics_gap_change"
        else:
            what, url = _("An answer to review"), "admin:analytics_review_change"
        yield PendingItem(describe(notice, what), reverse(url, args=[notice.gap_id or notice.review_id]))
    if (more := len(notices) - NOTICES) > 0:
        said = ngettext("%d more is assigned to you.", "%d more are assigned to you.", more)
        yield PendingItem(said % more, f"{reverse('to-do')}?who=me")


# --- what students ran into ---


def _reviews(user: "User") -> list[PendingItem]:
    if not user.has_perm("analytics.change_review"):
        return []
    reasons = {str(reason.value): Count("pk", filter=Q(reasons__contains=[reason])) for reason in Review.Reason}
    opened = Review.objects.visible_to(user).filter(state=Review.State.OPEN)
    counts = opened.aggregate(mine=Count("pk", filter=assigned_to(user)), **reasons)
    said: Mapping[str, Callable[[int], str]] = {
        "mine": lambda n: ngettext("%d answer is assigned to you.", "%d answers are assigned to you.", n),
        Review.Reason.ABSTAINED: lambda n: ngettext("%d question got no answer.", "%d questions got no answer.", n),
        Review.Reason.THUMBS_DOWN: lambda n: ngettext(
            "%d answer got a thumbs down.", "%d answers got a thumbs down.", n
        ),
        Review.Reason.LOW_RATING: lambda n: ngettext(
            "%d conversation got few stars.", "%d conversations got few stars.", n
        ),
        Review.Reason.FAILED: lambda n: ngettext("%d answer failed.", "%d answers failed.", n),
        Review.Reason.INJECTION: lambda n: ngettext(
            "%d answer shows signs of an attack.", "%d answers show signs of an attack.", n
        ),
    }
    return [
        PendingItem(
            sentence(counts[name]) % counts[name],
            to_do_url(who="me", kind="answers") if name == "mine" else to_do_url(reason=str(name)),
        )
        for name, sentence in said.items()
        if counts[name]
    ]


def _rises(user: "User") -> Iterator[PendingItem]:
    """Yield the assistants of which clearly more is held back than before; each rise for some days, once."""
    if not user.has_perm("chat.change_heldbacksentence"):
        return
    rises = HeldBackRise.objects.visible_to(user).filter(ended_at=None, noticed_at__gte=news_start())
    for rise in rises.select_related("assistant").order_by("assistant__name", "pk"):
        values = {
            "assistant": rise.assistant,
            "share": percent(rise.share),
            "before": percent(rise.share_before),
            "reason": rise.get_reason_display(),
        }
        said = _(
            "%(assistant)s: more of what the language model writes is held back, %(share)s in 7 days after %(before)s "
            "in the 28 days before. Most frequent reason: %(reason)s."
        )
        since = timezone.make_aware(datetime.combine(rise.first_day, time.min))
        filters = {"assistant__id__exact": rise.assistant_id, "reason": rise.reason, "created_at__gte": since}
        yield PendingItem(said % values, list_url("chat_heldbacksentence", **filters))


def _gaps(user: "User", others: Sequence[PendingItem]) -> Section:
    title = _("Unanswered topics")
    if not user.has_perm("analytics.change_gap"):
        return Section(title, [])
    to_do = Gap.objects.visible_to(user).filter(merged_into=None, state__in=TO_DO)
    weightiest = list(to_do.defer("centroid").order_by("-weight", "pk")[:GAPS])
    items = []
    if weightiest:
        count = len(weightiest) if len(weightiest) < GAPS else to_do.count()
        said = ngettext("%d unanswered topic.", "%d unanswered topics, most asked first.", count)
        items.append(PendingItem(said % count, to_do_url(kind="topics")))
    items += others
    last = GapRun.objects.first()
    if last and last.state == GapRun.State.FAILED:
        items.append(PendingItem(_("The last update of unanswered topics failed."), to_do_url(kind="topics")))
    return Section(title, items, weightiest)


# --- what is counted together, in one query ---


def _own(user: "User") -> Iterator[PendingCount]:
    """Yield the topics that the member is to look after, opened or not; answers are counted with the others."""
    if not user.has_perm("analytics.change_gap"):
        return
    own = Gap.objects.visible_to(user).filter(assigned_to(user), merged_into=None, state__in=TO_DO)
    yield PendingCount(
        own.filter(due_on__lt=timezone.localdate()),
        lambda n: ngettext("%d of your topics is overdue.", "%d of your topics are overdue.", n),
        to_do_url(who="me", kind="topics", due="overdue"),
    )
    yield PendingCount(
        own,
        lambda n: ngettext("%d topic is assigned to you.", "%d topics are assigned to you.", n),
        to_do_url(who="me", kind="topics"),
    )


def _watched(user: "User") -> Iterator[PendingCount]:
    if user.has_perm("analytics.change_gap"):
        yield PendingCount(
            Gap.objects.visible_to(user).filter(merged_into=None, state=Gap.State.ANSWERED),
            lambda n: ngettext(
                "%d topic was asked again and is answered.", "%d topics were asked again and are answered.", n
            ),
            to_do_url(state="answered", kind="topics"),
        )


def _count_pending(groups: Mapping[str, Sequence[PendingCount]], user: "User") -> dict[str, list[PendingItem]]:
    names = {f"{group}{place}": each for group, parts in groups.items() for place, each in enumerate(parts)}
    counts: dict[str, int] = {}
    if names:
        columns = {name: _count(each.rows) for name, each in names.items()}
        counts = cast("dict[str, int]", get_user_model().objects.filter(pk=user.pk).values(**columns).get())
    return {
        group: [
            PendingItem(each.said(count) % count, each.url)
            for place, each in enumerate(parts)
            if (count := counts[f"{group}{place}"])
        ]
        for group, parts in groups.items()
    }


def _count(rows: "QuerySet[Any]") -> Coalesce:
    every = rows.order_by().annotate(one=Value(1)).values("one").annotate(count=Count("pk"))
    return Coalesce(Subquery(every.values("count")), 0)


def _content(user: "User") -> Iterator[PendingCount]:
    if user.has_perm("faqs.change_faq"):
        faqs = FAQ.objects.visible_to(user).of_university()
        yield PendingCount(
            faqs.expiring(),
            lambda n: ngettext("%d FAQ ends within 14 days.", "%d FAQs end within 14 days.", n),
            list_url(FAQS, valid="soon"),
        )
        yield PendingCount(
            faqs.with_expired_answer(),
            lambda n: ngettext(
                "%d FAQ has expired: students no longer see its answer.",
                "%d FAQs have expired: students no longer see their answers.",
                n,
            ),
            list_url(FAQS, valid="expired", documents="written", status__exact=FAQ.Status.PUBLISHED.value),
        )
        yield PendingCount(
            faqs.with_changed_sources(),
            lambda n: ngettext("%d FAQ to check: its page changed.", "%d FAQs to check: their pages changed.", n),
            list_url(FAQS, documents="changed"),
        )
    if user.has_perm("knowledge.change_document"):
        yield PendingCount(
            stale_documents().visible_to(user),
            lambda n: ngettext(
                "%d changed page to check: FAQs or recent answers use it.",
                "%d changed pages to check: FAQs or recent answers use them.",
                n,
            ),
            reverse("impact"),
        )
    if user.has_perm("knowledge.change_flaggedtext"):
        yield PendingCount(
            FlaggedText.objects.visible_to(user).to_check(),
            lambda n: ngettext(
                "%d passage is withheld from answers until you check it.",
                "%d passages are withheld from answers until you check them.",
                n,
            ),
            list_url("knowledge_flaggedtext", state__exact=FlaggedText.State.OPEN.value),
        )
    if user.has_perm("knowledge.crawl_source"):
        yield PendingCount(
            CrawlRun.objects.visible_to(user).filter(state=CrawlRun.State.HELD),
            lambda n: ngettext("%d crawl waits for your decision.", "%d crawls wait for your decision.", n),
            list_url(CRAWLS, state__exact=CrawlRun.State.HELD.value),
        )
        yield PendingCount(
            Source.objects.visible_to(user).with_failed_crawl(),
            lambda n: ngettext(
                "%d source could not be crawled last time.", "%d sources could not be crawled last time.", n
            ),
            list_url("knowledge_source", crawl="failed"),
        )
    if user.has_perm("knowledge.add_document"):
        since = news_start()
        failed = PdfUpload.objects.visible_to(user).filter(status=PdfUpload.Status.FAILED, created_at__gte=since)
        yield PendingCount(
            failed,
            lambda n: ngettext(
                "%d PDF was not imported in the last 7 days.", "%d PDFs were not imported in the last 7 days.", n
            ),
            list_url("knowledge_pdfupload", status__exact=PdfUpload.Status.FAILED.value, created_at__gte=since),
        )


def _jobs(user: "User") -> Iterator[PendingCount]:
    since = news_start()
    if user.has_perm("analytics.add_evaluationrun"):
        yield PendingCount(
            EvaluationRun.objects.visible_to(user).filter(state=EvaluationRun.State.FAILED, created_at__gte=since),
            lambda n: ngettext(
                "%d evaluation failed in the last 7 days.", "%d evaluations failed in the last 7 days.", n
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


def _standing_still() -> list[PendingItem]:
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
