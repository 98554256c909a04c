"""Open tasks about what students ran into: cases, topics, answers to review, sentences that were held back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.dashboard.formatting import percent
from analytics.experiments.services import GUARDS
from analytics.inbox.colleagues import CASES, may_work
from analytics.inbox.items import TO_DO, listed_alone
from analytics.inbox.notices import describe, shown_notices, with_names
from analytics.inbox.preferences import assigned_to
from analytics.models import Gap, GapRun, HeldBackRise, Notice, QualityDrop, Review, SampledAnswer
from analytics.quality.judging import left_to_judge
from chat.models import Case, Experiment
from marcelcms.admin_index.pending import PendingCount, PendingItem, list_url, news_start, to_do_url

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Unanswered topics that are named, and items that a colleague assigned.
GAPS, NOTICES = 5, 10


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    items: Sequence[PendingItem]
    gaps: Sequence[Gap] = ()


def list_told(user: "User") -> tuple[list[PendingItem], list[PendingItem]]:
    """Return the newest items that were assigned to the member, and commented, and that they have not opened."""
    if not may_work(user):
        return [], []
    notices = with_names(shown_notices(user))
    assigned = [notice for notice in notices if notice.kind == Notice.Kind.ASSIGNED]
    commented = [notice for notice in notices if notice.kind == Notice.Kind.COMMENT]
    return list(_assigned(assigned)), list(_named(commented))


def _named(notices: Sequence[Notice]) -> Iterator[PendingItem]:
    for notice in notices[:NOTICES]:
        if notice.gap:
            what, url = _("“%(topic)s”") % {"topic": notice.gap.title}, "admin:analytics_gap_change"
        elif notice.case:
            what, url = _("Case %(number)s") % {"number": notice.case_id}, "admin:chat_case_change"
        else:
            what, url = _("An answer to review"), "admin:analytics_review_change"
        item = notice.gap_id or notice.case_id or notice.review_id
        yield PendingItem(describe(notice, what), reverse(url, args=[item]))


def _assigned(notices: Sequence[Notice]) -> Iterator[PendingItem]:
    yield from _named(notices)
    if (more := len(notices) - NOTICES) > 0:
        said = ngettext("%d more is assigned to you.", "%d more are assigned to you.", more)
        yield PendingItem(said % more, f"{reverse('to-do')}?who=me")


def list_reviews(user: "User") -> list[PendingItem]:
    """List the answers to review by what is wrong with them, and those assigned to the member.

    Who is told of the topics is not told again of the answers below them.
    """
    if not user.has_perm("analytics.change_review"):
        return []
    reasons = {str(reason.value): Count("pk", filter=Q(reasons__contains=[reason])) for reason in Review.Reason}
    opened = Review.objects.visible_to(user).filter(state=Review.State.OPEN)
    is_told_topics = user.has_perm("analytics.change_gap")
    if is_told_topics:
        opened = listed_alone(opened, TO_DO)
    kind = {"kind": "answers"} if is_told_topics else {}
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
            to_do_url(who="me", kind="answers") if name == "mine" else to_do_url(reason=str(name), **kind),
        )
        for name, sentence in said.items()
        if counts[name]
    ]


def list_rises(user: "User") -> Iterator[PendingItem]:
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
            "%(assistant)s: more of what the language model writes is not shown, %(share)s in 7 days after %(before)s "
            "in the 28 days before. Most frequent reason: %(reason)s."
        )
        since = timezone.make_aware(datetime.combine(rise.first_day, time.min))
        filters = {"assistant__id__exact": rise.assistant_id, "reason": rise.reason, "created_at__gte": since}
        yield PendingItem(said % values, list_url("chat_heldbacksentence", **filters))


def sampled_answers(user: "User") -> Iterator[PendingCount]:
    """Yield the assistants of which clearly fewer answers are right than before, and what is to be judged."""
    if user.has_perm("analytics.view_sampledanswer"):
        yield PendingCount(
            QualityDrop.objects.visible_to(user).filter(ended_at=None, noticed_at__gte=news_start()),
            lambda n: ngettext(
                "Fewer answers of %d assistant are right than before.",
                "Fewer answers of %d assistants are right than before.",
                n,
            ),
            reverse("quality"),
        )
    if user.has_perm("analytics.change_sampledanswer"):
        yield PendingCount(
            SampledAnswer.objects.filter(pk__in=left_to_judge(user).values("pk")),
            lambda n: ngettext(
                "%d answer of the nightly sample to judge.", "%d answers of the nightly sample to judge.", n
            ),
            reverse("quality-judge"),
        )


def ended_experiments(user: "User") -> Iterator[PendingCount]:
    """Yield the experiments that ended by themselves in the last days, and that nobody has adopted."""
    if not (user.has_perm("chat.view_experiment") or user.has_perm("chat.change_assistant")):
        return
    since = news_start()
    ended = Experiment.objects.visible_to(user).filter(ended_at__gte=since, adopted_at=None)
    others = [each for each in Experiment.Ending if each not in (*GUARDS, Experiment.Ending.STOPPED)]

    def count(endings: Iterable[str], said: Callable[[int], str]) -> PendingCount:
        filters = {"ending__in": ",".join(endings), "ended_at__gte": since, "adopted_at__isnull": 1}
        return PendingCount(ended.filter(ending__in=endings), said, list_url("chat_experiment", **filters))

    yield count(
        GUARDS,
        lambda n: ngettext(
            "A guard rail ended %d experiment: everybody is answered as before.",
            "Guard rails ended %d experiments: everybody is answered as before.",
            n,
        ),
    )
    yield count(
        others,
        lambda n: ngettext("%d experiment has ended by itself.", "%d experiments have ended by themselves.", n),
    )


def gaps_section(user: "User", others: Sequence[PendingItem]) -> Section:
    """Return the weightiest unanswered topics, with `others` below, and whether their last update failed."""
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


def waiting_cases(user: "User") -> Iterator[PendingCount]:
    """Yield the cases in which a student waits: late ones, the member's own, and all."""
    if not user.has_perm(CASES):
        return
    waiting = Case.objects.visible_to(user).waiting()
    yield PendingCount(
        waiting.exclude(raised_at=None),
        lambda n: ngettext("%d student waits for too long.", "%d students wait for too long.", n),
        to_do_url(due="late"),
    )
    yield PendingCount(
        waiting.filter(assigned_to(user)),
        lambda n: ngettext("%d case is assigned to you.", "%d cases are assigned to you.", n),
        to_do_url(who="me", kind="cases"),
    )
    yield PendingCount(
        waiting,
        lambda n: ngettext("%d question left with an office.", "%d questions left with an office.", n),
        to_do_url(kind="cases"),
    )


def own_topics(user: "User") -> Iterator[PendingCount]:
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


def watched_topics(user: "User") -> Iterator[PendingCount]:
    """Yield the topics that moved to "answered, watch" by themselves."""
    if user.has_perm("analytics.change_gap"):
        yield PendingCount(
            Gap.objects.visible_to(user).filter(merged_into=None, state=Gap.State.ANSWERED),
            lambda n: ngettext(
                "%d topic was asked again and is answered.", "%d topics were asked again and are answered.", n
            ),
            to_do_url(state="answered", kind="topics"),
        )
