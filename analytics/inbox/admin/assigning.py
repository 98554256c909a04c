"""Assigning an item on its own page: to whom, and until when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from analytics.inbox.colleagues import can_open, colleagues
from analytics.inbox.items import Item, OutOfDate, describe_change
from analytics.inbox.services import assign
from analytics.models import Gap, Review
from chat.models import Case
from core.access import name_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Items by what addresses and forms call them.
KINDS: dict[str, type[Item]] = {"topic": Gap, "answer": Review, "case": Case}


#: Stands for whoever looks after an item already.
KEEP = "keep"


@dataclass(frozen=True, slots=True)
class TypedAssignment:
    """The values of a form that was not saved, as they were sent."""

    to: str
    due_on: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """To whom, and on which day it is due; None: nobody, no day. What is kept stays as each item has it."""

    to: "User | None"
    due_on: date | None
    keeps_owner: bool = False
    keeps_day: bool = False


def read_assignment(posted: QueryDict, items: Sequence[Item]) -> Assignment:
    """Read the form. Raise ValidationError if the colleague could not open all the items, or the date is none."""
    given, due = posted.get("to", ""), posted.get("due_on", "")
    to, keeps_owner = None, given == KEEP
    if keeps_owner and not due:
        raise ValidationError(_("Choose a colleague or a due date first. Nothing was assigned."))
    if given and not keeps_owner:
        is_id = given.isdecimal() and len(given) < 10
        to = colleagues(*{type(item) for item in items}).filter(pk=int(given)).first() if is_id else None
        if to is None:
            raise ValidationError(_("Choose a colleague of the list. Nothing was assigned."))
        if len(can_open(to, items)) < len(items):
            said = _("%(name)s may not open this: another team looks after it. Nothing was assigned.")
            raise ValidationError(said % {"name": name_of(to)})
    try:
        due_on = parse_date(due) if due else None
    except ValueError:
        due_on = None
    if due and due_on is None:
        raise ValidationError(_("Write the due date as in 2027-03-31. Nothing was assigned."))
    return Assignment(to, due_on, keeps_owner=keeps_owner, keeps_day=bool(posted.get("keeps_day")) and not due)


def read_version(posted: QueryDict, name: str = "version") -> int:
    """Return the version that the form was made for; an unreadable one matches none."""
    version = posted.get(name, "")
    return int(version) if version.isdecimal() and len(version) < 10 else -1


def assign_item(request: HttpRequest, item: Item) -> TypedAssignment | None:
    """Assign an item that the member may change, as the form says, or say why that was not done.

    Return what was typed and not saved, to be shown again; None if it was saved. A field that was left as it was shown
    is not typed: it shows what is stored by now, so that nobody takes back what a colleague did meanwhile.
    """
    user = cast("User", request.user)
    try:
        wanted = read_assignment(request.POST, [item])
        with transaction.atomic():
            assign(item=item, version=read_version(request.POST), to=wanted.to, due_on=wanted.due_on, by=user)
            message: Any = [{"changed": {"fields": ["assigned_to", "due_on"]}}]
            LogEntry.objects.log_actions(user.pk, [item], CHANGE, change_message=message)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    except OutOfDate as error:
        said = _("Below is how it is now. Nothing was assigned: what you chose still stands in its form.")
        messages.error(request, f"{describe_change(error.item)} {said}")
    else:
        messages.success(request, _("Saved: who looks after it, and until when."))
        return None
    item.refresh_from_db(fields=["assigned_to", "due_on"])
    stored = _stored(item)
    return TypedAssignment(_typed(request.POST, "to", stored.to), _typed(request.POST, "due_on", stored.due_on))


def _typed(posted: QueryDict, name: str, stored: str) -> str:
    given = posted.get(name, "")
    return stored if given == posted.get(f"shown_{name}") else given


def _stored(item: Item) -> TypedAssignment:
    return TypedAssignment(str(item.assigned_to_id or ""), item.due_on.isoformat() if item.due_on else "")


def assigning_context(item: Item, user: "User", typed: TypedAssignment | None = None) -> dict[str, Any]:
    """Return what the form of assigning needs besides the item; `typed` is what could not be saved."""
    name = f"admin:{item._meta.app_label}_{item._meta.model_name}_assign"
    stored, found = _stored(item), list(colleagues(type(item)))
    return {
        "item": item,
        "assign_address": reverse(name, args=[item.pk]),
        "colleagues": found,
        # The button of this name comes after the choice, so that its value counts.
        "may_take": user in found and item.assigned_to_id != user.pk,
        "typed_assignment": typed or stored,
        "stored_assignment": stored,
        "today": timezone.localdate(),
    }
