"""Saves what student and office say in a case, and what becomes of it."""

from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.cases.hours import reply_due
from chat.cases.news import case_opened, case_settled, case_written
from chat.cases.routing import choose_office, list_offices
from chat.cases.words import check_words
from chat.errors import NotFound, Refused
from chat.models import Case, CaseMessage, Conversation, Office

#: Messages of a case; who has more to say calls the office.
MOST_MESSAGES = 200


def lock_own_case(visitor: UUID, case: int) -> Case:
    """Return the visitor's own case, locked. Raise NotFound."""
    found = lock_case(case)
    if found.conversation.visitor_id != visitor:
        raise NotFound
    return found


def lock_case(case: int) -> Case:
    """Return the case, locked after its conversation, as whoever deletes the conversation does. Raise NotFound."""
    list(Conversation.objects.select_for_update(no_key=True).filter(cases=case).values_list("pk"))
    rows = Case.objects.select_for_update(of=("self",), no_key=True).select_related("office", "conversation")
    found = rows.filter(pk=case).first()
    if found is None:
        raise NotFound
    return found


@transaction.atomic
def add_student_message(
    *, case: Case, text: str, client_id: UUID | None = None, mail_id: str = ""
) -> CaseMessage | None:
    """Save what the student writes; the case waits for the office again, also one that was closed.

    What was a wish to be told goes to the office that its question belongs to. `case` is locked. Return None if this
    `client_id` or `mail_id` was saved before. Raise Refused.
    """
    words = check_words(text)
    if case.merged_into_id:
        raise Refused("case_merged", _("This question goes on in another one of yours. Please write there."))
    if case.messages.count() >= MOST_MESSAGES:
        raise Refused("case_full", _("Please contact the office directly: this question has become too long."))
    was_wish = case.state in Case.WISHES
    if was_wish:
        case.office = _office_for(case)
    try:
        with transaction.atomic():
            message = CaseMessage.objects.create(
                case=case, by=CaseMessage.By.STUDENT, text=words, client_id=client_id, mail_id=mail_id
            )
    except IntegrityError:
        return None
    values: dict[str, object] = {"closed_at": None, "helped": None}
    if case.state != Case.State.OPEN:
        values |= wait_anew(case)
    change(case, state=Case.State.OPEN, office=case.office, by=None, **values)
    (case_opened if was_wish else case_written).send(Case, case=case)
    return message


def _office_for(case: Case) -> Office:
    """Return the office to which the question of a wish belongs. Raise Refused if none takes questions."""
    office = choose_office(case.conversation, case.about, list_offices(case.conversation))
    if office is None:
        raise Refused("unknown_office", _("No office takes questions at the moment. Please ask again in the chat."))
    return office


@transaction.atomic
def add_office_message(*, case: Case, text: str, by: AbstractBaseUser, asks_back: bool, closes: bool) -> CaseMessage:
    """Save a reply of the office in a locked case. Raise Refused."""
    words = check_words(text)
    message = CaseMessage.objects.create(
        case=case, by=CaseMessage.By.OFFICE, author_id=by.pk, text=words, asks_back=asks_back
    )
    now = timezone.now()
    state = Case.State.CLOSED if closes else Case.State.REPLIED
    values: dict[str, object] = {"closed_at": now if closes else None, "raised_at": None}
    if case.first_reply_at is None:
        values["first_reply_at"] = now
    change(case, state=state, by=by, **values)
    return message


def wait_anew(case: Case) -> dict[str, object]:
    """Return the values of a case that waits for its office from now on; one of a person in need is late at once."""
    due = {"reply_due": reply_due(case.office)} if case.office else {}
    return {**due, "raised_at": timezone.now() if case.reason == Case.Reason.HELP else None}


def change(case: Case, *, by: AbstractBaseUser | None, **values: object) -> None:
    """Save values of a locked case as its next version; its conversation is kept for as long again."""
    now, waited = timezone.now(), case.state == Case.State.OPEN
    if "state" in values and values["state"] != case.state:
        values["state_at"] = now
    values |= {"changed_at": now, "changed_by_id": by.pk if by else None, "version": case.version + 1}
    for name, value in values.items():
        setattr(case, name, value)
    case.save(update_fields=[*values])
    Conversation.objects.filter(pk=case.conversation_id).update(updated_at=now)
    if waited and case.state != Case.State.OPEN:
        case_settled.send(Case, case=case)
