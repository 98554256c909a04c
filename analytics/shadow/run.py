"""A shadow test from the queue to its end: claimed by one worker, gone on with where it was, and always closed."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone
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
    draft_of,
    present,
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
from chat.prompt_template import BUILT_IN
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

State = ShadowTest.State
ACTIVE = (State.QUEUED, State.RUNNING)
#: A test that says nothing for so long has lost its worker, or was lost on the way to one.
LOST = timedelta(minutes=5)
#: Somebody who edits the same row is waited for: so often, two seconds each.
ATTEMPTS = 15


class Stopped(Exception):
    """Somebody stopped the test, or it was deleted."""


class Interrupted(Exception):
    """It cannot go on; the message says what to do."""


def work_on(test_id: int) -> None:
    """Works on a test that waits; nothing where it does not, or another worker has it."""
    with advisory_lock(Lock.SHADOW_TEST, row=test_id) as is_mine:
        if not is_mine or not _update(test_id, (State.QUEUED,), state=State.RUNNING):
            return
        try:
            _run(ShadowTest.objects.select_related("assistant__profile", "assistant__prompt").get(pk=test_id))
        except Stopped:
            logger.info("shadow test stopped test=%d", test_id)
        except (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, Interrupted) as error:
            _fail(test_id, str(error))
        except TargetGone:
            _fail(test_id, _("What was to be changed is gone."))
        except IndexReplaced:
            _fail(test_id, _("The search index was replaced meanwhile: test again."))
        except Exception:
            _fail(test_id, _("An error of ours ended it; whoever runs this server finds it in the log."))
            raise


def lost_tests() -> Iterator[int]:
    """Tests whose worker died, or that nobody began, to be queued once more: they go on where they were."""
    now = timezone.now()
    silent = ShadowTest.objects.filter(state__in=ACTIVE, created_at__lt=now - LOST).exclude(
        heartbeat_at__gte=now - LOST
    )
    for test_id in silent.order_by("pk").values_list("pk", flat=True):
        if _update(test_id, ACTIVE, state=State.QUEUED):
            yield test_id


def overlay_of(draft: Draft, live: Draft, target_id: int) -> Overlay:
    """What lays the draft over what `target_id` is now."""
    match draft, live:
        case FAQDraft(), _:
            return FAQOverlay(draft, target_id)
        case DocumentDraft(), _:
            return DocumentOverlay(draft, target_id)
        case ProfileDraft(), ProfileDraft():
            return ProfileOverlay(draft, live)
        case PromptDraft(), _:
            version = PromptVersion.objects.filter(pk=draft.version).first() if draft.version else None
            return PromptOverlay(version.template if version else BUILT_IN)
    raise TypeError(f"{type(draft).__name__} is no draft of a {type(live).__name__}")


def _run(test: ShadowTest) -> None:
    questions = questions_for(test.assistant)
    there = set(test.results.values_list("question", "message"))
    waiting = [question for question in questions if question.key not in there]
    _save(test, total=len(questions), done=len(questions) - len(waiting))
    overlay = overlay_of(draft_of(test), _unchanged(test), test.target_id)
    overlay.prepare()
    asking = Asking({test.assistant_id: test.assistant}, asks_model=test.asks_model)
    while waiting:
        _unchanged(test)
        found = _looked_up(overlay, asking, waiting)
        for each in found:
            _keep(test, with_answers(each))
        waiting = waiting[len(found) :]
    _unchanged(test)
    _save(test, state=State.FINISHED, done=test.total, finished_at=timezone.now())


def _looked_up(overlay: Overlay, asking: Asking, waiting: list[TriedQuestion]) -> list[Found]:
    for _attempt in range(ATTEMPTS):
        try:
            return look_up_batch(overlay, asking, waiting)
        except OperationalError as error:
            if not isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected)):
                raise
    raise Interrupted(_("It is being edited by somebody else: test again when they are done."))


def _keep(test: ShadowTest, compared: Compared) -> None:
    """Stores one result as soon as it is there; raises Stopped."""
    question, change = compared.question, compared.difference
    counted = {
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
        before=compared.before,
        after=compared.after,
    )
    try:
        with transaction.atomic():
            if not _update(test.pk, (State.RUNNING,), **{name: F(name) + count for name, count in counted.items()}):
                raise Stopped
            result.save()
    except IntegrityError:
        logger.info("question deleted meanwhile test=%d", test.pk)


def _unchanged(test: ShadowTest) -> Draft:
    """What the target is now; raises Interrupted where that is not what the draft was made of."""
    live = present(test)
    if live.fingerprint != test.base:
        raise Interrupted(_("It was changed by somebody meanwhile: look at it, and test again."))
    return live


def _save(test: ShadowTest, **values: object) -> None:
    for name, value in values.items():
        setattr(test, name, value)
    if not _update(test.pk, (State.RUNNING,), **values):
        raise Stopped


def _update(test_id: int, states: tuple[str, ...], **values: object) -> int:
    """Whether there was such a test; says that it lives."""
    rows = ShadowTest.objects.filter(pk=test_id, state__in=states)
    return rows.update(heartbeat_at=timezone.now(), **values)


def _fail(test_id: int, message: str) -> None:
    _update(test_id, (State.RUNNING,), state=State.FAILED, message=message, finished_at=timezone.now())
