"""The weekly summary: what there is to do, in figures."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.inbox.colleagues import ANSWERS, CASES, TOPICS
from analytics.inbox.items import TO_DO, listed_alone
from analytics.inbox.mails import mailed_workers
from analytics.inbox.preferences import assigned_to
from analytics.mails import address, mail_each, send
from analytics.models import Gap, InboxPreferences, Review
from chat.models import Case

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NEW = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of one kind of item that the member may see; `mine`, `overdue` and `new` count items to do."""

    title: str
    url: str
    to_do: int
    mine: int
    overdue: int
    answered: int
    new: int

    def lines(self) -> list[str]:
        rows = [
            (_("Not done yet"), self.to_do),
            (_("Assigned to you"), self.mine),
            (_("Overdue"), self.overdue),
            (_("New in the last seven days"), self.new),
            (_("Answered, to be watched"), self.answered),
        ]
        return [self.title, *(f"  {name}: {count}" for name, count in rows), f"  {self.url}", ""]


def mail_digests() -> int:
    """Mail the summary to everybody who wants it and did not get it this week; return how many mails."""
    today = timezone.localdate()
    monday = today - timedelta(days=today.weekday())
    got_it = InboxPreferences.objects.filter(digest_sent_on__gte=monday)
    return mail_each(mailed_workers("mails_digest").exclude(pk__in=got_it.values("user")), _mail_digest)


def _mail_digest(connection: BaseEmailBackend, reader: "User") -> bool:
    figures = figures_for(reader)
    if not any(each.to_do or each.answered for each in figures):
        return False
    lines = [_("This is what there is to do in MarcelCMS:"), ""]
    for each in figures:
        lines += each.lines()
    is_settled = send(connection, reader, _("Your week in MarcelCMS"), lines[:-1])
    if is_settled:
        InboxPreferences.objects.update_or_create(user=reader, defaults={"digest_sent_on": timezone.localdate()})
    return is_settled


def figures_for(user: "User") -> list[Figures]:
    """Return the figures of cases, of topics and of answers, each if the member may work on them."""
    found, since = [], timezone.now() - NEW
    if user.has_perm(CASES):
        cases = Case.objects.visible_to(user).exclude(state=Case.State.CLOSED)
        counts = _counts(cases, user, Q(state=Case.State.OPEN), Q(opened_at__gte=since))
        found.append(Figures(_("Cases"), address("to-do", kind="cases"), **counts))
    if user.has_perm(TOPICS):
        gaps = Gap.objects.visible_to(user).filter(merged_into=None, state__in=[*TO_DO, Gap.State.ANSWERED])
        counts = _counts(gaps, user, Q(state__in=TO_DO), Q(created_at__gte=since))
        found.append(Figures(_("Unanswered topics"), address("to-do", kind="topics"), **counts))
    if user.has_perm(ANSWERS):
        answers = Review.objects.visible_to(user)
        to_do = listed_alone(answers.filter(state=Review.State.OPEN), TO_DO)
        answered = listed_alone(answers.filter(state=Review.State.ANSWERED), [Gap.State.ANSWERED])
        reviews = answers.filter(Q(pk__in=to_do.values("pk")) | Q(pk__in=answered.values("pk")))
        counts = _counts(reviews, user, Q(state=Review.State.OPEN), Q(asked_at__gte=since))
        found.append(Figures(_("Answers to review"), address("to-do", kind="answers"), **counts))
    return found


def _counts(rows: QuerySet[Gap] | QuerySet[Review] | QuerySet[Case], user: "User", to_do: Q, new: Q) -> dict[str, int]:
    counts: dict[str, int] = rows.aggregate(
        to_do=Count("pk", filter=to_do),
        mine=Count("pk", filter=to_do & assigned_to(user)),
        overdue=Count("pk", filter=to_do & Q(due_on__lt=timezone.localdate())),
        answered=Count("pk", filter=~to_do),
        new=Count("pk", filter=to_do & new),
    )
    return counts
