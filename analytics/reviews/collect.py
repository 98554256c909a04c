"""Collects the answers that staff should look at, kept up to date as students ask and rate.

Answers and ratings are followed in order of their times, a batch a transaction, so that a process that was stopped goes
on where it was, and two at once make nothing twice. What leaves no time behind, such as a rating that was taken back,
is found by comparing (`recheck`).
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from analytics.models import Comment, Reader, Review, ReviewFeed
from chat.models import Conversation, Feedback, Message
from core.language import detect_language

BATCH = 500
#: What is saved with a time may be seen only so much later: by another server's clock, or in a long transaction.
OVERLAP = timedelta(minutes=2)
#: When the list opens it looks for news only where nobody has for so long.
FRESH = timedelta(seconds=5)
#: Who had a review open is forgotten.
READERS_KEPT = timedelta(days=1)
#: Stars that say that a conversation went badly.
FEW_STARS = 2
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
Reason, State, Note = Review.Reason, Review.State, Comment.Note
Position = tuple[datetime, int]


def _answers_after(position: Position) -> list[Position]:
    bad = (
        Q(status__in=(Message.Status.ABSTAINED, Message.Status.FAILED))
        | Q(flags__len__gt=0)
        | Q(question__flags__len__gt=0)
    )
    finished = Message.objects.filter(bad, role=Message.Role.ASSISTANT)
    later = Q(finished_at__gt=position[0]) | Q(pk__gt=position[1])
    found = finished.filter(later, finished_at__gte=position[0]).order_by("finished_at", "pk")
    return [(at, pk) for at, pk in found.values_list("finished_at", "pk")[:BATCH] if at]


def _ratings_after(position: Position) -> list[Position]:
    later = Q(updated_at__gt=position[0]) | Q(message__gt=position[1])
    found = Feedback.objects.filter(later, updated_at__gte=position[0])
    return list(found.order_by("updated_at", "message").values_list("updated_at", "message_id")[:BATCH])


#: What is followed, by name: reads a batch of (time, answer) after a position.
FEEDS: dict[str, Callable[[Position], list[Position]]] = {"answers": _answers_after, "ratings": _ratings_after}


def collect(*, batches: int | None = None) -> None:
    """Collect from all answers and ratings, or from so many batches of each."""
    for name in FEEDS:
        _follow(name, batches)


def collect_news() -> None:
    """Collect one batch for who opens the list, unless that was just done."""
    recent = ReviewFeed.objects.filter(name__in=FEEDS, looked_at__gte=timezone.now() - FRESH)
    if recent.count() < len(FEEDS):
        collect(batches=1)


def _follow(name: str, batches: int | None) -> None:
    ReviewFeed.objects.get_or_create(name=name, defaults={"until": BEGINNING})
    position: Position | None = None
    while batches is None or batches > 0:
        with transaction.atomic():
            began = timezone.now()
            feed = ReviewFeed.objects.select_for_update(skip_locked=True).filter(name=name).first()
            if feed is None:  # another process is at it
                return
            position = position or (feed.until - OVERLAP, 0)
            found = FEEDS[name](position)
            review({pk for _time, pk in found})
            is_end = len(found) < BATCH
            position = position if is_end else found[-1]
            feed.until = max(feed.until, began if is_end else position[0])
            feed.save()
        if is_end:
            return
        batches = None if batches is None else batches - 1


@transaction.atomic
def review(answers: Collection[int], *, rated_low: Collection[int] = ()) -> None:
    """Update the reviews of these answers (ids).

    `rated_low` are those whose conversation was just given few stars: they are kept with its last answer of then.
    """
    if not answers:
        return
    messages = Message.objects.filter(pk__in=answers).without_help().order_by("pk")
    # Locked, so that none is deleted before the rows that name it are saved.
    rows = messages.select_related("question", "feedback", "conversation").select_for_update(of=("self",), no_key=True)
    known = {row.message_id: row for row in Review.objects.select_for_update().filter(message__in=answers)}
    new = []
    for message in rows:
        if (question := message.question) is None:
            continue
        row = known.get(message.pk)
        is_low = message.pk in rated_low or bool(row and Reason.LOW_RATING in row.reasons)
        reasons = find_reasons(message, question, is_low=is_low)
        if row is not None:
            _follow_up(row, reasons, getattr(message, "feedback", None))
        elif reasons:
            new.append(_new(message, question, reasons))
    Review.objects.bulk_create(new, ignore_conflicts=True)


def find_reasons(message: Message, question: Message, *, is_low: bool) -> list[str]:
    """Return why staff should look at an answer, in the order of `Review.Reason`."""
    feedback: Feedback | None = getattr(message, "feedback", None)
    stars = message.conversation.stars
    holds = {
        Reason.ABSTAINED: message.status == Message.Status.ABSTAINED,
        Reason.THUMBS_DOWN: feedback is not None and feedback.value < 0,
        Reason.LOW_RATING: is_low and stars is not None and stars <= FEW_STARS,
        Reason.INJECTION: bool(question.flags or message.flags),
        Reason.FAILED: message.status == Message.Status.FAILED,
    }
    return [reason.value for reason, applies in holds.items() if applies]


def _new(message: Message, question: Message, reasons: list[str]) -> Review:
    return Review(
        message=message,
        assistant_id=message.conversation.assistant_id,
        language=question.language or detect_language(question.text) or "",
        asked_at=question.created_at,
        reasons=reasons,
    )


def _follow_up(row: Review, reasons: list[str], feedback: Feedback | None) -> None:
    """Reopen a review that was rated after the verdict; finish untouched ones without a reason left."""
    is_newly_low = Reason.LOW_RATING in reasons and Reason.LOW_RATING not in row.reasons
    is_late = bool(feedback and feedback.value < 0 and row.done_at and feedback.updated_at > row.done_at)
    note = None
    if row.state != State.OPEN and (is_late or is_newly_low):
        row.state, row.done_by, row.done_at = State.OPEN, None, None
        note = Note.RATED_AGAIN
    elif row.state == State.OPEN and not reasons and row.reasons:
        note = Note.TAKEN_BACK
        if not (row.verdict or row.assigned_to_id or row.comments.exists()):
            row.state, row.done_at = State.DONE, timezone.now()
    if note is None and reasons == row.reasons:
        return
    row.reasons = reasons
    if note:
        # A new version, so that a page with an older state gets a conflict instead of saving over this one.
        row.version += 1
        row.changed_at, row.changed_by = timezone.now(), None
        Comment.objects.create(review=row, note=note)
    row.save(update_fields=["reasons", "state", "done_by", "done_at", "version", "changed_at", "changed_by"])


def recheck() -> None:
    """Find changes without a time: stars given or changed, ratings taken back."""
    review(set(_thumbs_taken_back()))
    review(set(_stars_changed()))
    low = {pk for pk in _newly_rated_low() if pk is not None}
    review(low, rated_low=low)
    Reader.objects.filter(seen_at__lt=timezone.now() - READERS_KEPT).delete()


def _thumbs_taken_back() -> QuerySet[Review, int]:
    is_down = Exists(Feedback.objects.filter(message=OuterRef("message"), value=-1))
    rows = Review.objects.filter(~is_down, state=State.OPEN, reasons__contains=[Reason.THUMBS_DOWN])
    return rows.order_by("pk").values_list("message_id", flat=True)[:BATCH]


def _stars_changed() -> QuerySet[Review, int]:
    better = Q(message__conversation__stars__gt=FEW_STARS) | Q(message__conversation__stars=None)
    rows = Review.objects.filter(better, state=State.OPEN, reasons__contains=[Reason.LOW_RATING])
    return rows.order_by("pk").values_list("message_id", flat=True)[:BATCH]


def _newly_rated_low() -> QuerySet[Conversation, int | None]:
    """Return the last answers of conversations with few stars that are not under review for that."""
    known = Review.objects.filter(message__conversation=OuterRef("pk"), reasons__contains=[Reason.LOW_RATING])
    answers = Message.objects.filter(
        conversation=OuterRef("pk"), role=Message.Role.ASSISTANT, finished_at__isnull=False
    ).without_help()
    conversations = Conversation.objects.filter(~Exists(known), stars__lte=FEW_STARS).order_by("pk")
    last = conversations.annotate(last=Subquery(answers.order_by("-pk").values("pk")[:1])).filter(last__isnull=False)
    return last.values_list("last", flat=True)[:BATCH]
