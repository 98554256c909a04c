"""Topics that are asked again: those to do, and those that are answered and watched."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from analytics.gaps.answered.judging import Judgement, find_cover, newest_change
from analytics.gaps.collect import central_questions
from analytics.inbox.items import TO_DO, note
from analytics.inbox.services import set_topic_state
from analytics.models import Comment, Gap
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: Different questions of a topic that are asked, and questions that are read to find them.
ASKED, READ = 5, 40
#: How long an answered topic is watched before it is solved.
WATCHED = timedelta(days=28)
State, Note = Gap.State, Comment.Note


def check_topics(gaps: Iterable[Gap], progress: Callable[[int, int], None] | None = None) -> int:
    """Ask the questions of these topics again, and move those whose answer is another one; return how many moved.

    `progress` gets (done, of). Raise EmbeddingUnavailable.
    """
    gaps, moved, newest = list(gaps), 0, newest_change()
    for done, gap in enumerate(gaps):
        if progress:
            progress(done, len(gaps))
        try:
            moved += _check(gap, newest)
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("topic not asked again gap=%d reason=%s", gap.pk, type(error).__name__)
    return moved


def close_watched() -> int:
    """Solve the topics that were answered and that nobody asked about for four weeks; return how many."""
    with transaction.atomic():
        quiet = Gap.objects.filter(
            state=State.ANSWERED, state_at__lt=timezone.now() - WATCHED, last_asked__lte=F("state_at")
        )
        return set_topic_state(gaps=quiet.order_by("pk").select_for_update(no_key=True), state=State.SOLVED)


def _check(gap: Gap, newest: datetime | None) -> bool:
    questions = different(central_questions(gap, READ))[:ASKED]
    if not questions and gap.state == State.ANSWERED:  # they were deleted: nothing tells that it is answered no longer
        return False
    since = _since(gap)
    may_be_answered = bool(questions) and newest is not None and newest > since
    if may_be_answered:
        return _settle(gap, find_cover(gap.assistant, questions, gap.language, since=since))
    return _settle(gap, Judgement(because=Gap.Unanswered.UNCHANGED if questions else None))


def different(questions: Iterable[str]) -> list[str]:
    """Return the questions without those that differ in capitals and signs alone."""
    known = {"".join(letter for letter in text.casefold() if letter.isalnum()): text for text in reversed([*questions])}
    return list(reversed(known.values()))


def _since(gap: Gap) -> datetime:
    """Return when something must have changed that answers the topic.

    What staff opened again although it counted as answered is answered only by what changed after that.
    """
    told = gap.comments.filter(note__in=(Note.ANSWERED, Note.ASKED_AGAIN)).order_by("-pk").first()
    was_answered = told is not None and told.note == Note.ANSWERED and told.created_at > gap.last_asked
    return max(gap.last_asked, gap.state_at) if was_answered and gap.state in TO_DO else gap.last_asked


@transaction.atomic
def _settle(gap: Gap, judgement: Judgement) -> bool:
    """Save what was found, or why nothing was; return whether the topic moved.

    Leave one that changed meanwhile as it is.
    """
    unchanged = Gap.objects.filter(state=gap.state, state_at=gap.state_at, last_asked=gap.last_asked)
    row = unchanged.select_for_update(of=("self",), no_key=True).filter(pk=gap.pk, merged_into=None).first()
    if row is None:
        return False
    was_answered, cover = row.state == State.ANSWERED, judgement.cover
    row.answered_since = cover.at if cover else None
    row.answered_by_faq_id = cover.faq_id if cover else None
    row.answered_by_document_id = cover.document_id if cover else None
    row.asked_again_at, row.unanswered_because = timezone.now(), judgement.because or ""
    found = ["answered_since", "answered_by_faq", "answered_by_document"]
    row.save(update_fields=[*found, "asked_again_at", "unanswered_because"])
    if was_answered == bool(cover):
        return False
    set_topic_state(gaps=[row], state=State.ANSWERED if cover else State.OPEN)
    note(row, Note.ANSWERED if cover else Note.ASKED_AGAIN, cover.title if cover else "")
    return True
