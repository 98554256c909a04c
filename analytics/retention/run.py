"""Every night: what was promised to be deleted goes, and the counts stay."""

import datetime
import logging
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from analytics.counts.refresh import TABLES, freeze
from analytics.experiments.services import count_before_deletion
from analytics.models import AnonymisedQuestion, ExperimentCount, RetentionRun, SampledAnswer, TopicCount
from analytics.privacy import anonymised_texts
from analytics.reports.files import expire
from chat.conversations.retention import delete_idle_visitors, delete_old_records, expired, oldest_kept
from chat.models import Assistant, Conversation, Message
from core.db.locks import Lock, advisory_lock
from core.redis import rewrite_file


def anonymise(assistant: Assistant, conversations: Iterable[Conversation]) -> int:
    """Save the questions as they were looked up, in random order; return how many.

    Questions with signs of an attack and cries for help are left out.
    """
    asked = list(
        Message.objects.filter(conversation__in=[each.pk for each in conversations], role=Message.Role.USER, flags=[])
        .without_help()
        .exclude(answer=None)
        .select_related("answer__feedback")
        .order_by("?")
    )
    rows = [
        AnonymisedQuestion(
            assistant=assistant,
            day=timezone.localtime(question.created_at).date(),
            language=question.language,
            text=text,
            status=question.answer.status,
            faq_id=question.answer.faq_id,
            thumbs=question.answer.feedback.value if hasattr(question.answer, "feedback") else 0,
        )
        for question, text in zip(asked, anonymised_texts(asked), strict=True)
    ]
    AnonymisedQuestion.objects.bulk_create(rows)
    return len(rows)


logger = logging.getLogger(__name__)
#: Conversations that go in one transaction.
BATCH = 500


def apply_retention() -> RetentionRun | None:
    """Delete what has expired; return None if another process does.

    Each batch is a transaction that anonymises, if wanted, and deletes. What a killed run does not reach is deleted
    the next night.
    """
    with advisory_lock(Lock.RETENTION) as is_mine:
        if not is_mine:
            return None
        run = RetentionRun.objects.create()
        before = {assistant: oldest_kept(assistant) for assistant in [*Assistant.objects.order_by("pk"), None]}
        freeze({assistant.pk if assistant else None: moment for assistant, moment in before.items()})
        for assistant, moment in before.items():
            if assistant:
                count_before_deletion(assistant, moment)
            gone = _apply_to(assistant, moment)
            if any(gone.values()):
                run.gone.append({"assistant": assistant.name if assistant else "", **gone})
                run.save(update_fields=["gone"])
        run.visitors, run.reports, run.records = delete_idle_visitors(), expire(), delete_old_records()
        rewrite_file()
        run.finished_at = timezone.now()
        run.save()
        logger.info(
            "retention applied assistants=%d visitors=%d reports=%d records=%d",
            *(len(run.gone), run.visitors, run.reports, run.records),
        )
        return run


def _apply_to(assistant: Assistant | None, before: datetime.datetime) -> dict[str, int]:
    gone = {"conversations": 0, "anonymised": 0, "questions": 0, "counts": 0}
    while batch := list(expired(assistant, before).order_by("pk")[:BATCH]):
        with transaction.atomic():
            if assistant and assistant.keep_questions_days:
                gone["anonymised"] += anonymise(assistant, batch)
            Conversation.objects.filter(pk__in=[each.pk for each in batch]).delete()
        gone["conversations"] += len(batch)
    if assistant:
        gone["questions"] = _delete_questions(assistant)
        gone["counts"] = _delete_counts(assistant)
    return gone


def _delete_questions(assistant: Assistant) -> int:
    before = timezone.localdate() - datetime.timedelta(days=assistant.keep_questions_days or 0)
    count, _by_model = AnonymisedQuestion.objects.filter(assistant=assistant, day__lt=before).delete()
    return count


def _delete_counts(assistant: Assistant) -> int:
    """Delete expired counts; a month is deleted as a whole."""
    if assistant.keep_counts_months is None:
        return 0
    today = timezone.localdate()
    months = today.year * 12 + today.month - 1 - assistant.keep_counts_months
    before = datetime.date(months // 12, months % 12 + 1, 1)
    kept: Any = {"assistant": assistant, "day__lt": before}
    # A running experiment needs its counts: they go once it has ended.
    tried = ExperimentCount.objects.filter(experiment__assistant=assistant, experiment__state="ended", day__lt=before)
    gone = sum(table.objects.filter(**kept).delete()[0] for table in (*TABLES, TopicCount, SampledAnswer))
    return gone + tried.delete()[0]
