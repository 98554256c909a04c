"""A shadow test from the queue to its end; one whose worker was lost goes on where it was."""

import logging

from django.db import IntegrityError, OperationalError, transaction
from django.utils.translation import gettext_noop as _
from psycopg.errors import DeadlockDetected, LockNotAvailable

from analytics.models import ShadowResult, ShadowTest
from analytics.shadow.comparison import Asking, Compared, Found, look_up_batch, with_answers
from analytics.shadow.drafts import (
    DocumentDraft,
    Draft,
    FAQDraft,
    ProfileDraft,
    PromptDraft,
    TargetGone,
    present,
    read_draft,
)
from analytics.shadow.overlays import (
    DocumentOverlay,
    FAQOverlay,
    IndexReplaced,
    Overlay,
    ProfileOverlay,
    PromptOverlay,
)
from analytics.shadow.questions import TriedQuestion, questions_for
from analytics.shadow.verdicts import Verdict
from chat.models import PromptVersion
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.jobs import Heartbeat
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: Attempts to lock a row that somebody else edits, two seconds each.
ATTEMPTS = 15


class Interrupted(Exception):
    """It cannot go on; the message says what to do."""


def work_on(test_id: int) -> None:
    """Work on a test that waits, unless another worker has it."""
    with advisory_lock(Lock.SHADOW_TEST, row=test_id) as is_mine:
        rows = ShadowTest.objects.select_related("assistant__profile", "assistant__prompt")
        test = rows.filter(pk=test_id).first() if is_mine else None
        if test is None or not test.claim():
            return
        expected = (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, Interrupted)
        with test.closing(*expected), Heartbeat(test):
            try:
                _run(test)
            except TargetGone as error:
                raise Interrupted(_("What was to be changed is gone.")) from error
            except IndexReplaced as error:
                raise Interrupted(_("The search index was replaced meanwhile: test again.")) from error


def build_overlay(draft: Draft, live: Draft, test: ShadowTest) -> Overlay:
    """Build what applies the draft to the test's target for the length of a transaction."""
    match draft, live:
        case FAQDraft(), _:
            return FAQOverlay(draft, test.target_id)
        case DocumentDraft(), _:
            return DocumentOverlay(draft, test.target_id)
        case ProfileDraft(), ProfileDraft():
            return ProfileOverlay(draft, live)
        case PromptDraft(), _:
            version = PromptVersion.objects.filter(pk=draft.version).first() if draft.version else None
            return PromptOverlay(version.template if version else test.assistant.built_in_template)
    raise TypeError(f"{type(draft).__name__} is no draft of a {type(live).__name__}")


def _run(test: ShadowTest) -> None:
    questions = questions_for(test.assistant)
    there = set(test.results.values_list("question", "message"))
    waiting = [question for question in questions if question.key not in there]
    test.beat(total=len(questions), done=len(questions) - len(waiting))
    overlay = build_overlay(read_draft(test), _unchanged(test), test)
    overlay.prepare()
    asking = Asking({test.assistant_id: test.assistant}, asks_model=test.asks_model)
    while waiting:
        _unchanged(test)
        found = _looked_up(overlay, asking, waiting)
        for each in found:
            _keep(test, with_answers(each))
        waiting = waiting[len(found) :]
    _unchanged(test)
    test.finish(done=test.total)


def _looked_up(overlay: Overlay, asking: Asking, waiting: list[TriedQuestion]) -> list[Found]:
    for _attempt in range(ATTEMPTS):
        try:
            return look_up_batch(overlay, asking, waiting)
        except OperationalError as error:
            if not isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected)):
                raise
    raise Interrupted(_("It is being edited by somebody else: test again when they are done."))


def _keep(test: ShadowTest, compared: Compared) -> None:
    """Store one result as soon as it is there. Raise JobStopped."""
    question, change = compared.question, compared.difference
    counts = {
        "done": 1,
        "changed": int(change.severity > 0),
        "better": int(change.verdict == Verdict.BETTER),
        "worse": int(change.verdict == Verdict.WORSE),
        "prompt_tokens": compared.tokens[0],
        "answer_tokens": compared.tokens[1],
    }
    result = ShadowResult(
        test=test,
        question_id=question.question_id,
        message_id=question.message_id,
        verdict=change.verdict.value,
        sources_changed=change.sources,
        decision_changed=change.decision,
        answer_changed=change.answer,
        severity=change.severity,
        unchanged=compared.unchanged,
        before=compared.before,
        after=compared.after,
    )
    try:
        with transaction.atomic():
            test.beat(**{name: getattr(test, name) + count for name, count in counts.items()})
            result.save()
    except IntegrityError:
        test.refresh_from_db(fields=list(counts))
        logger.info("question deleted meanwhile test=%d", test.pk)


def _unchanged(test: ShadowTest) -> Draft:
    """Return what the target is now. Raise Interrupted if that is not what the draft was made of."""
    live = present(test)
    if live.fingerprint != test.base:
        raise Interrupted(_("It was changed by somebody meanwhile: look at it, and test again."))
    return live
