"""Notices of assignments and of comments, in the admin and by e-mail."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from analytics.inbox.colleagues import ANSWERS, CASES, TOPICS, can_open, colleagues
from analytics.inbox.items import CLOSED, Item, about
from analytics.inbox.preferences import is_away, stand_in_for
from analytics.models import Comment, Gap, Notice, Review
from chat.models import Assistant, Case, Office
from core.access import name_of, sees_everything

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: By its name, because the task imports what mails the notices.
MAIL_TASK = "analytics.tasks.mail_notices"
#: Kinds of notices that no colleague sends: of a case that came, goes on or waits too long.
OF_CASES = (Notice.Kind.NEW_CASE, Notice.Kind.CASE_MESSAGE, Notice.Kind.LATE_CASE)


def notify(*, items: Sequence[Item], to: AbstractBaseUser, by: AbstractBaseUser) -> None:
    """Tell `to`, or who stands in for them, that `by` assigned these items; nobody is told of what they did.

    A substitute is told only of what they may work on; of the rest, `to` is.
    """
    stand_in = stand_in_for(to.pk)
    substitute = get_user_model()._default_manager.get(pk=stand_in) if stand_in else None
    passed_on = can_open(substitute, items) if substitute else []
    told = [(substitute if substitute and item in passed_on else to, item) for item in items]
    notices = [
        Notice(**about(item), user_id=reader.pk, by_id=by.pk, instead_of_id=None if reader.pk == to.pk else to.pk)
        for reader, item in told
        if reader.pk != by.pk
    ]
    _save(notices)


def notify_of_comment(*, item: Item, by: AbstractBaseUser) -> None:
    """Tell who looks after the item, or stands in for them, and who commented before; never who writes.

    A substitute is told only of what they may work on; of the rest, who looks after it is.
    """
    owner = item.assigned_to_id
    readers: dict[int, int | None] = {}
    if owner:
        stand_in = stand_in_for(owner)
        substitute = get_user_model()._default_manager.get(pk=stand_in) if stand_in else None
        if substitute and can_open(substitute, [item]):
            readers[substitute.pk] = owner
        else:
            readers[owner] = None
    before = Comment.objects.filter(**about(item)).exclude(by=None).values_list("by_id", flat=True)
    for reader in before:
        if reader:
            readers.setdefault(reader, None)
    kind = Notice.Kind.COMMENT
    _save(
        [
            Notice(**about(item), kind=kind, user_id=reader, by_id=by.pk, instead_of_id=absent)
            for reader, absent in readers.items()
            if reader != by.pk
        ]
    )


def notify_of_case(case: Case, kind: str) -> None:
    """Tell who looks after the case, or stands in for them; if none of them is here, everybody who may answer it."""
    owner = case.assigned_to_id
    chosen, absent = (stand_in_for(owner), owner) if owner and is_away(owner) else (owner, None)
    readers = _able(case, colleagues(Case).filter(pk=chosen)) if chosen else []
    if not readers:
        readers, absent = _able(case, colleagues(Case)), None
    _save([Notice(case=case, kind=kind, user_id=reader.pk, instead_of_id=absent) for reader in readers])


def _able(case: Case, members: Iterable["User"]) -> list["User"]:
    return [member for member in members if can_open(member, [case])]


def _save(notices: Sequence[Notice]) -> None:
    if notices:
        Notice.objects.bulk_create(notices)
        import_string(MAIL_TASK).delay_on_commit()


def unread_notices(user: "User") -> QuerySet[Notice]:
    """Return what the member was told and has not read, newest first.

    Left out is what was assigned and is done meanwhile or is somebody else's by now, and what may not be seen by the
    member.
    """
    about_open = _open_topics(user) | _open_answers(user) | _open_cases(user)
    return Notice.objects.filter(about_open, user=user.pk, read_at=None)


def shown_notices(user: "User") -> QuerySet[Notice]:
    """Return the unread notices to show in the admin: none if the member turned them off there."""
    return unread_notices(user).exclude(user__inbox_preferences__shows_notices=False)


def _open_topics(user: "User") -> Q:
    states = [state for state in Gap.State.values if state not in CLOSED]
    return _own(user, "gap", TOPICS, states) & Q(gap__merged_into=None)


def _open_answers(user: "User") -> Q:
    states = [state for state in Review.State.values if state != Review.State.DONE]
    return _own(user, "review", ANSWERS, states)


def _open_cases(user: "User") -> Q:
    own = _own(user, "case", CASES, [Case.State.OPEN, Case.State.REPLIED])
    if not user.has_perm("chat.read_help_message"):
        own &= ~Q(case__reason=Case.Reason.HELP)
    if sees_everything(user):
        return own
    offices = Office.objects.filter(Q(teams=None) | Q(teams__in=user.groups.all()))
    return own & (Q(case__office=None) | Q(case__office__in=offices.values("pk")))


def _own(user: "User", field: str, permission: str, states: Sequence[str]) -> Q:
    """Return the condition of notices about what may be seen, and was commented or is still assigned as told and in
    one of the states.

    It goes through the notice's own row, because asking for all visible items first would read each of them.
    """
    if not user.has_perm(permission):
        return Q(pk__in=[])
    assigned = {f"{field}__assigned_to": Coalesce("instead_of", "user"), f"{field}__state__in": states}
    still = Q(kind=Notice.Kind.COMMENT) | Q(kind=Notice.Kind.ASSIGNED, **assigned)
    if field == "case":
        still |= Q(kind__in=OF_CASES, case__state=Case.State.OPEN)
    still &= Q(**{f"{field}__isnull": False})
    if sees_everything(user):
        return still
    return still & Q(**{f"{field}__assistant__in": Assistant.objects.visible_to(user).values("pk")})


def count_unread(user: "User") -> int:
    """Return how many items the member was told of and has not read, to show on every page."""
    items = ("gap", "review", "case")
    counts = shown_notices(user).aggregate(**{f"{item}s": Count(item, distinct=True) for item in items})
    return sum(counts.values())


def with_names(notices: QuerySet[Notice]) -> list[Notice]:
    """Return the newest notice of each kind about each item, with all that is said about it."""
    rows = notices.select_related("gap", "review", "case__office", "by", "instead_of__inbox_preferences").defer(
        "gap__centroid"
    )
    newest: dict[tuple[int | None, int | None, int | None, str], Notice] = {}
    for notice in rows.order_by("-pk"):
        newest.setdefault((notice.gap_id, notice.review_id, notice.case_id, notice.kind), notice)
    return list(newest.values())


def describe(notice: Notice, what: str) -> str:
    """Say of `what` who assigned or commented it, until when it is due, and instead of whom it is told."""
    parts, is_comment = [what], notice.kind == Notice.Kind.COMMENT
    if notice.kind == Notice.Kind.LATE_CASE:
        parts.append(_("waits for a reply for too long"))
    if notice.kind == Notice.Kind.CASE_MESSAGE:
        parts.append(_("the student wrote again"))
    if notice.by and is_comment:
        parts.append(_("commented by %(by)s") % {"by": name_of(notice.by)})
    elif notice.by:
        parts.append(_("from %(by)s") % {"by": name_of(notice.by)})
    item = notice.gap or notice.review or notice.case
    if item and item.due_on and not is_comment:
        parts.append(_("due on %(day)s") % {"day": date_format(item.due_on)})
    if notice.instead_of:
        named = {"name": name_of(notice.instead_of)}
        preferences = getattr(notice.instead_of, "inbox_preferences", None)
        until = preferences.away_until if preferences else None
        if until and until >= timezone.localdate():
            named["day"] = date_format(until)
            parts.append(_("instead of %(name)s, who is away until %(day)s") % named)
        else:
            parts.append(_("instead of %(name)s") % named)
    return ", ".join(parts)


def mark_read(item: Item, user: AbstractBaseUser) -> None:
    """Record that the member has seen what they were told about the item."""
    Notice.objects.filter(**about(item), user_id=user.pk, read_at=None).update(read_at=timezone.now())


def end_notices_of_case(case: Case) -> None:
    """Mark everybody's notices of a case as read, once the case no longer waits.

    Most who may answer never open it, and every page of the admin counts what its reader has not read.
    """
    Notice.objects.filter(case=case, kind__in=OF_CASES, read_at=None).update(read_at=timezone.now())
