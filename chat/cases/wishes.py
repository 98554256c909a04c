"""Wishes to be told once a question that got no answer has one: cases that no office has."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import translation
from django.utils.translation import gettext as _

from chat.cases.messages import change, lock_case
from chat.cases.opening import language_of, reason_for
from chat.errors import NotFound, Refused
from chat.models import Case, CaseMessage, Conversation, Feedback, Message
from core.text import write_link

#: Wishes of one conversation that wait at the same time.
MOST_WATCHING = 20


def open_wish(*, visitor: UUID, conversation: UUID, client_id: UUID, answer: int) -> tuple[Case, bool]:
    """Save the wish to be told what answers the question of this answer; return it, and False if it was there before.

    Raise NotFound, and Refused if the answer is good or there are too many wishes.
    """
    row = Conversation.objects.select_for_update(no_key=True).filter(pk=conversation, visitor_id=visitor).first()
    messages = Message.objects.filter(conversation=row, role=Message.Role.ASSISTANT).select_related("question")
    about = messages.filter(pk=answer).first() if row else None
    if row is None or about is None or about.question is None:
        raise NotFound
    earlier = row.cases.filter(Q(client_id=client_id) | Q(about=about, state__in=Case.WISHES)).first()
    if earlier:
        return earlier, False
    if not _was_in_vain(about):
        raise Refused("answered", _("Please say first that the answer did not help."))
    if row.cases.watching().count() >= MOST_WATCHING:
        raise Refused("too_many_wishes", _("You wait for many answers already. Please take one of these wishes back."))
    try:
        with transaction.atomic():
            case = Case.objects.create(
                conversation=row,
                assistant_id=row.assistant_id,
                about=about,
                question=about.question.text,
                language=language_of(row, about),
                reason=reason_for(about),
                state=Case.State.WATCHING,
                client_id=client_id,
            )
    except IntegrityError:  # the same button in two tabs
        return row.cases.get(client_id=client_id), False
    return case, True


def _was_in_vain(answer: Message) -> bool:
    """Return whether an answer is none, or its student said that it did not help.

    A person in need is not kept waiting.
    """
    if answer.is_help:
        return False
    is_none = answer.status in {Message.Status.ABSTAINED, Message.Status.FAILED}
    return is_none or Feedback.objects.filter(message=answer, value=-1).exists()


@transaction.atomic
def add_answer(*, case: int, title: str, url: str) -> CaseMessage | None:
    """Write into a wish where its question is answered now; return None if it was told, or taken back, before.

    `url` may be empty.
    """
    try:
        row = lock_case(case)
    except NotFound:
        return None
    if row.state != Case.State.WATCHING:
        return None
    with translation.override(row.language):
        said = _("There is an answer to your question now: %(link)s")
    text = said % {"link": write_link(title, url)}
    message = CaseMessage.objects.create(case=row, by=CaseMessage.By.ASSISTANT, text=text)
    change(row, by=None, state=Case.State.TOLD)
    return message
