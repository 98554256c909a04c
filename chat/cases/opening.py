"""Opens a case: the student's question, the office that gets it, and what of the conversation goes along."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.cases.hours import reply_due
from chat.cases.routing import list_offices
from chat.cases.words import check_words
from chat.errors import NotFound, Refused
from chat.models import Case, Conversation, Feedback, Message

QUESTION_CHARACTERS = 4000
#: Cases of one conversation that wait at the same time.
MOST_WAITING = 5


def open_case(
    *,
    visitor: UUID,
    conversation: UUID,
    client_id: UUID,
    office: int,
    question: str,
    answer: int | None,
    shared: Sequence[int],
) -> tuple[Case, bool]:
    """Open a case for the visitor's own conversation; return it, and False if this `client_id` opened it before.

    `answer` is the id of the message that did not help, `shared` are those of the messages that staff may read.
    Raise NotFound, Refused.
    """
    row = Conversation.objects.filter(pk=conversation, visitor_id=visitor).first()
    if row is None:
        raise NotFound
    chosen = next((each for each in list_offices(row) if each.pk == office), None)
    if chosen is None:
        raise Refused("unknown_office", _("This office takes no questions at the moment. Please choose another one."))
    about = None
    if answer is not None:
        about = row.messages.filter(pk=answer, role=Message.Role.ASSISTANT).first()
        if about is None:
            raise NotFound
    words = check_words(question, most=QUESTION_CHARACTERS)
    earlier = row.cases.filter(client_id=client_id).first()
    if earlier:
        return earlier, False
    if row.cases.filter(state__in=(Case.State.OPEN, Case.State.REPLIED)).count() >= MOST_WAITING:
        raise Refused(
            "too_many_cases", _("Your earlier questions are still waiting. Please write to the office there.")
        )
    reason = reason_for(about)
    now = timezone.now()
    try:
        with transaction.atomic():
            case = Case.objects.create(
                conversation=row,
                assistant_id=row.assistant_id,
                office=chosen,
                about=about,
                question=words,
                language=language_of(row, about),
                reason=reason,
                client_id=client_id,
                reply_due=reply_due(chosen),
                raised_at=now if reason == Case.Reason.HELP else None,
            )
            case.shared.set(row.messages.filter(pk__in=shared))
            Conversation.objects.filter(pk=row.pk).update(updated_at=now)
    except IntegrityError:  # the same button in two tabs
        return row.cases.get(client_id=client_id), False
    return case, True


def reason_for(about: Message | None) -> Case.Reason:
    """Return why the student leaves a question, as the answer tells."""
    if about is None:
        return Case.Reason.PERSON
    if about.is_help:
        return Case.Reason.HELP
    if about.status == Message.Status.ABSTAINED:
        return Case.Reason.ABSTAINED
    if about.strategy == Message.Strategy.FIXED and not Feedback.objects.filter(message=about, value=-1).exists():
        return Case.Reason.PERSON
    return Case.Reason.BAD_ANSWER


def language_of(conversation: Conversation, about: Message | None) -> str:
    """Return the language of the answer, or of the conversation's last message."""
    if about and about.language:
        return about.language
    last = conversation.messages.exclude(language="").order_by("-pk").values_list("language", flat=True).first()
    return last or "en"
