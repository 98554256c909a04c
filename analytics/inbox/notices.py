"""Notices of assignments, in the admin and by e-mail."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from analytics.inbox.colleagues import ANSWERS, TOPICS, can_open
from analytics.inbox.items import CLOSED, Item, about
from analytics.inbox.preferences import name_of, stand_in_for
from analytics.models import Gap, Notice, Review
from chat.models import Assistant
from core.access import sees_everything

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: By its name, because the task imports what mails the notices.
MAIL_TASK = "analytics.tasks.mail_notices"


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
    if notices:
        Notice.objects.bulk_create(notices)
        import_string(MAIL_TASK).delay_on_commit()


def unread_notices(user: "User") -> QuerySet[Notice]:
    """Return what the member was told and has not read, newest first.

    Left out is what is done meanwhile, is somebody else's by now, or may not be seen by the member.
    """
    return Notice.objects.filter(_open_topics(user) | _open_answers(user), user=user.pk, read_at=None)


def _open_topics(user: "User") -> Q:
    states = [state for state in Gap.State.values if state not in CLOSED]
    return _own(user, "gap", TOPICS) & Q(gap__state__in=states, gap__merged_into=None)


def _open_answers(user: "User") -> Q:
    states = [state for state in Review.State.values if state != Review.State.DONE]
    return _own(user, "review", ANSWERS) & Q(review__state__in=states)


def _own(user: "User", field: str, permission: str) -> Q:
    """Return the condition of notices about what is still assigned as told, and may be seen.

    It goes through the notice's own row, because asking for all visible items first would read each of them.
    """
    if not user.has_perm(permission):
        return Q(pk__in=[])
    still = Q(**{f"{field}__isnull": False, f"{field}__assigned_to": Coalesce("instead_of", "user")})
    if sees_everything(user):
        return still
    return still & Q(**{f"{field}__assistant__in": Assistant.objects.visible_to(user).values("pk")})


def count_unread(user: "User") -> int:
    """Return how many items the member was told of and has not read."""
    counts = unread_notices(user).aggregate(topics=Count("gap", distinct=True), answers=Count("review", distinct=True))
    return int(counts["topics"] + counts["answers"])


def with_names(notices: QuerySet[Notice]) -> list[Notice]:
    """Return the newest notice of each item, with all that is said about it."""
    rows = notices.select_related("gap", "review", "by", "instead_of__inbox_preferences").defer("gap__centroid")
    newest: dict[tuple[int | None, int | None], Notice] = {}
    for notice in rows.order_by("-pk"):
        newest.setdefault((notice.gap_id, notice.review_id), notice)
    return list(newest.values())


def describe(notice: Notice, what: str) -> str:
    """Say of `what` who assigned it, until when it is due, and instead of whom it is told."""
    parts = [what]
    if notice.by:
        parts.append(_("from %(by)s") % {"by": name_of(notice.by)})
    item = notice.gap or notice.review
    if item and item.due_on:
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
