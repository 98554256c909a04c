"""An item of the inbox (topic, answer to review, case), locked and saved so that nobody overwrites unseen changes."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from analytics.models import Comment, Gap, Review
from chat.models import Case
from chat.models.assistants import OfAssistants
from core.access import name_of
from faqs.models import FAQ

Item = Gap | Review | Case
AnItem = TypeVar("AnItem", bound=Item)

#: Topics that staff have something to do for, and those that are closed.
TO_DO = (Gap.State.OPEN, Gap.State.IN_WORK)
CLOSED = (Gap.State.SOLVED, Gap.State.DISMISSED)


def listed_alone(answers: OfAssistants[Review], topic_states: Sequence[str]) -> OfAssistants[Review]:
    """Leave out answers under a topic of these states, unless somebody is to look after the answer itself."""
    return answers.exclude(gap__state__in=topic_states, assigned_to=None, due_on=None)


class OutOfDate(Exception):
    """Somebody did something to it since the page was made; `item` is how it is now."""

    def __init__(self, item: Item) -> None:
        super().__init__(item.pk)
        self.item: Any = item


def about(item: Item | FAQ) -> dict[str, Item | FAQ]:
    """Return the field and value by which a row names the item."""
    return {item._meta.model_name or "": item}


def lock(item: AnItem, version: int) -> AnItem:
    """Lock the item's row and return it as it is now.

    Raise OutOfDate if it has another version, and DoesNotExist if it was deleted.
    """
    rows: Any = type(item).objects
    row: AnItem = rows.select_for_update(of=("self",), no_key=True).get(pk=item.pk)
    if row.version != version:
        raise OutOfDate(row)
    return row


def changed_now(by: AbstractBaseUser | None) -> dict[str, object]:
    """Return the values that say that an item is changed now, and by whom; None: by itself."""
    return {"changed_at": timezone.now(), "changed_by_id": by.pk if by else None}


def save(item: AnItem, *, by: AbstractBaseUser | None, **values: object) -> AnItem:
    """Save these values of a locked item, as its next version."""
    values |= changed_now(by)
    for name, value in values.items():
        setattr(item, name, value)
    item.version += 1
    item.save(update_fields=["version", *values])
    return item


def describe_change(item: Item) -> str:
    """Say who changed the item last, and when."""
    if item.changed_at is None:  # changed before that was recorded
        return _("It was changed meanwhile.")
    changed = timezone.localtime(item.changed_at)
    named = {"day": date_format(changed, "SHORT_DATE_FORMAT"), "time": date_format(changed, "TIME_FORMAT")}
    if item.changed_by is None:
        return _("It was changed meanwhile (%(day)s, %(time)s).") % named
    return _("%(name)s changed it meanwhile (%(day)s, %(time)s).") % {"name": name_of(item.changed_by), **named}


def note(item: Item, what: str, text: str = "") -> None:
    """Write among the item's comments what happened to it by itself; `text` names what did it."""
    Comment.objects.create(**about(item), note=Comment.Note(what), text=text)
