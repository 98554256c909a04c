"""Services for items of the inbox: assign, comment, finish, reopen, and set the state of topics."""

from collections.abc import Iterable, Sequence
from datetime import date

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.inbox.items import CLOSED, TO_DO, AnItem, Item, about, changed_now, lock, save
from analytics.inbox.notices import notify, notify_of_comment
from analytics.models import Comment, Gap, Review
from chat.models import Case, Conversation
from chat.services.office_cases import set_state

COMMENT_CHARACTERS = 2000


@transaction.atomic
def assign(
    *, item: AnItem, version: int, to: AbstractBaseUser | None, due_on: date | None, by: AbstractBaseUser
) -> AnItem:
    """Assign the item to a member of staff, or to nobody, with the day on which it is due; tell who got it.

    Raise OutOfDate, DoesNotExist, ValidationError.
    """
    row = lock(item, version)
    _check_due([row], due_on)
    is_news = to is not None and row.assigned_to_id != to.pk
    saved = save(row, by=by, assigned_to_id=to.pk if to else None, due_on=due_on)
    if to is not None and is_news:
        notify(items=[saved], to=to, by=by)
    return saved


def _check_due(rows: Sequence[Item], due_on: date | None) -> None:
    """Raise ValidationError if a day that has passed is newly set; one that was set before may stay."""
    if due_on and due_on < timezone.localdate() and any(row.due_on != due_on for row in rows):
        raise ValidationError(_("This due date has passed: choose today or a later day. Nothing was assigned."))


def _locked(items: Sequence[Item]) -> list[Item]:
    """Lock the rows in one order, so that two members who tick the same rows do not deadlock."""
    rows: list[Item] = []
    cases = [item.pk for item in items if isinstance(item, Case)]
    # Before the cases, as whoever deletes a conversation does.
    list(Conversation.objects.select_for_update(no_key=True).filter(cases__in=cases).order_by("pk").values_list("pk"))
    for model in (Gap, Review, Case):
        chosen = [item.pk for item in items if isinstance(item, model)]
        ordered = model._default_manager.filter(pk__in=chosen).order_by("pk")
        rows += ordered.select_for_update(of=("self",), no_key=True)
    return rows


@transaction.atomic
def assign_all(
    *,
    items: Sequence[Item],
    to: AbstractBaseUser | None,
    due_on: date | None,
    by: AbstractBaseUser,
    keeps_owner: bool = False,
    keeps_day: bool = False,
) -> list[Item]:
    """Assign several items at once, whatever was seen of them; return those that changed hands or due date.

    Who looks after an item, or its day, is left as it is if that is to be kept. Raise ValidationError.
    """
    rows = _locked(items)
    if not keeps_day:
        _check_due(rows, due_on)
    owner = {} if keeps_owner else {"assigned_to_id": to.pk if to else None}
    wanted: dict[str, object] = {**owner, **({} if keeps_day else {"due_on": due_on})}
    changing = [row for row in rows if any(getattr(row, name) != value for name, value in wanted.items())]
    moved = [row for row in changing if to is not None and row.assigned_to_id != to.pk]
    for row in changing:
        save(row, by=by, **wanted)
    if to is not None:
        notify(items=moved, to=to, by=by)
    return changing


@transaction.atomic
def finish_all(*, items: Sequence[Item], by: AbstractBaseUser) -> list[Item]:
    """Mark topics as solved, with their answers, and answers as done, and close cases; return what changed."""
    rows = _locked(items)
    cases = [row for row in rows if isinstance(row, Case) and row.state != Case.State.CLOSED]
    topics = [row for row in rows if isinstance(row, Gap) and row.state not in CLOSED]
    answers = [row for row in rows if isinstance(row, Review) and row.state != Review.State.DONE]
    set_topic_state(gaps=topics, state=Gap.State.SOLVED, by=by)
    for row in answers:
        save(row, by=by, state=Review.State.DONE, done_by_id=by.pk, done_at=timezone.now())
    for case in cases:
        set_state(case=case, state=Case.State.CLOSED, by=by)
    return [*topics, *answers, *cases]


@transaction.atomic
def reopen_all(*, items: Sequence[Item], by: AbstractBaseUser) -> list[Item]:
    """Open topics, answers and cases again; return what changed."""
    rows = _locked(items)
    cases = [row for row in rows if isinstance(row, Case) and row.state == Case.State.CLOSED and not row.merged_into_id]
    topics = [row for row in rows if isinstance(row, Gap) and row.state not in TO_DO]
    answers = [row for row in rows if isinstance(row, Review) and row.state != Review.State.OPEN]
    set_topic_state(gaps=topics, state=Gap.State.OPEN, by=by)
    for row in answers:
        save(row, by=by, state=Review.State.OPEN, done_by_id=None, done_at=None)
    for case in cases:
        set_state(case=case, state=Case.State.OPEN, by=by)
    return [*topics, *answers, *cases]


@transaction.atomic
def add_comment(*, item: Item, by: AbstractBaseUser, text: str, may_be_empty: bool = False) -> bool:
    """Add a comment, without a version, and tell who looks after the item and who commented before.

    Return whether there was a comment. Raise ValidationError.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text:
        if may_be_empty:
            return False
        raise ValidationError(_("Write a comment first."))
    if len(text) > COMMENT_CHARACTERS:
        most = {"most": COMMENT_CHARACTERS}
        raise ValidationError(_("Please shorten the comment to %(most)d characters.") % most)
    Comment.objects.create(**about(item), by_id=by.pk, text=text)
    notify_of_comment(item=item, by=by)
    return True


@transaction.atomic
def set_topic_state(*, gaps: Iterable[Gap], state: str, by: AbstractBaseUser | None = None) -> int:
    """Set the state of topics and with it that of their answers; return how many topics changed.

    A closed topic closes its answers that are still to do; one that is answered takes them along too, and brings them
    back when it is opened again. Only questions from now on open a closed topic by themselves.
    """
    changed = [gap for gap in _locked(list(gaps)) if isinstance(gap, Gap) and gap.state != state]
    for gap in changed:
        save(gap, by=by, state=Gap.State(state), state_at=timezone.now())
        _follow(gap, by)
    return len(changed)


def _follow(gap: Gap, by: AbstractBaseUser | None) -> None:
    """Bring the state of a topic's answers in line with the topic's."""
    states, bump = Review.State, {"version": F("version") + 1, **changed_now(by)}
    answers = Review.objects.filter(gap=gap)
    if gap.state in CLOSED:
        closing = list(answers.exclude(state=states.DONE).order_by("pk").select_for_update(no_key=True))
        Comment.objects.bulk_create(Comment(review=each, note=Comment.Note.TOPIC_CLOSED) for each in closing)
        closed = Review.objects.filter(pk__in=[each.pk for each in closing])
        closed.update(state=states.DONE, done_by=by.pk if by else None, done_at=timezone.now(), **bump)
    elif gap.state == Gap.State.ANSWERED:
        answers.filter(state=states.OPEN).update(state=states.ANSWERED, done_at=timezone.now(), **bump)
    else:
        answers.filter(state=states.ANSWERED).update(state=states.OPEN, done_at=None, **bump)
