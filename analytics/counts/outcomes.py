"""Outcomes of conversations, as docs/analyst.md defines them."""

from typing import Any

from django.db.models import Case as FirstOf
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.models import Rephrasing
from chat.models import Case, Conversation, Feedback, Message

#: By the column of their count: in the order in which they are shown, the good ones first.
OUTCOMES: dict[str, Promise] = {
    "confirmed": _("Answered, and rated as good"),
    "silent": _("Answered, nothing said"),
    "rephrased": _("Asked again in other words"),
    "disliked": _("Answered, and rated as bad"),
    "unanswered": _("Not answered"),
    "handed_over": _("Left with an office"),
    "abandoned": _("Left before an answer"),
}
#: What is no question to the university.
SMALL_TALK = (Message.Route.CHIT_CHAT, Message.Route.META, Message.Route.ABUSE)
IN_VAIN = (Message.Status.ABSTAINED, Message.Status.FAILED)
BROKEN_OFF = (Message.Status.STOPPED, Message.Status.CLARIFYING)
#: Stars that are as good as a thumb up, and as a thumb down.
GOOD_STARS, BAD_STARS = 4, 2


def with_outcome(conversations: QuerySet[Conversation]) -> "QuerySet[Any]":
    """Annotate `outcome`, one of `OUTCOMES`; "" without a question to the university, and for people in need."""
    last = _answers().order_by("-pk").values("status")[:1]
    return conversations.annotate(last_answer=Subquery(last)).annotate(outcome=_outcome())


def _answers() -> QuerySet[Message]:
    of_conversation = Message.objects.filter(conversation=OuterRef("pk"), role=Message.Role.ASSISTANT)
    return of_conversation.exclude(route__in=SMALL_TALK).exclude(status=Message.Status.GENERATING)


def _outcome() -> Combinable:
    """Return the first that applies: what speaks against an answer comes before what speaks for it."""
    said = Message.objects.filter(conversation=OuterRef("pk"))
    cases = Case.objects.filter(conversation=OuterRef("pk")).exclude(state__in=Case.WISHES)
    asked_again = Rephrasing.objects.filter(of=OuterRef("question"))
    again = Rephrasing.objects.filter(message__conversation=OuterRef("pk"))
    rated = Feedback.objects.filter(message__conversation=OuterRef("pk"))
    # A technical failure that is asked once more is judged by the answer that it got then.
    rephrased = again.filter(of__answer__status__in=(Message.Status.COMPLETE, Message.Status.ABSTAINED))
    whens = [
        When(Exists(said.filter(route__in=Message.HELP_ROUTES)) | Q(last_answer=None), then=Value("")),
        When(Exists(cases), then=Value("handed_over")),
        When(Exists(_answers().filter(~Exists(asked_again), status__in=IN_VAIN)), then=Value("unanswered")),
        When(Exists(rated.filter(value=-1)) | Q(stars__lte=BAD_STARS), then=Value("disliked")),
        When(Exists(rephrased), then=Value("rephrased")),
        When(last_answer__in=BROKEN_OFF, then=Value("abandoned")),
        When(Exists(rated.filter(value=1)) | Q(stars__gte=GOOD_STARS), then=Value("confirmed")),
    ]
    return FirstOf(*whens, default=Value("silent"), output_field=CharField())
