"""Services for shadow tests: start, stop, then publish what was tested or go back."""

from typing import TypeVar

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.models import ShadowTest
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
from analytics.tasks import run_shadow_test
from chat.models import Assistant, PromptVersion, RetrievalProfile
from chat.services.profiles import check_legs, needs_reranker, save_profile
from chat.services.prompts import use_version
from core.inference.llm import client
from core.jobs import ACTIVE
from faqs.models import FAQ, FAQVersion
from faqs.services import index_saved_faq
from faqs.versions.history import recording
from knowledge.models import Course, Document
from knowledge.services.documents import save_document

Decision = ShadowTest.Decision
Row = TypeVar("Row", bound=Model)
GONE = gettext_lazy("What was to be changed is gone.")


@transaction.atomic
def start_test(
    *, draft: Draft, target_id: int, title: str, assistant: Assistant, asks_model: bool = False, by: User
) -> ShadowTest:
    """Start a test of the draft on the assistant's questions, unless the same one waits or runs already.

    Raise ValidationError if there is nothing to test.
    """
    get_user_model().objects.select_for_update().get(pk=by.pk)  # a double click waits here
    test = ShadowTest(
        kind=draft.kind,
        target_id=target_id,
        title=title[:300],
        draft=draft.dump(),
        assistant=assistant,
        asks_model=asks_model or isinstance(draft, PromptDraft),
        requested_by_id=by.pk,
    )
    live = _present(test)
    _check(draft, live, test)
    test.base = live.fingerprint
    if same := _going_on(test):
        return same
    test.save()
    run_shadow_test.delay_on_commit(test.pk)
    return test


def _going_on(test: ShadowTest) -> ShadowTest | None:
    """Return the same test of the same member of staff that waits or runs."""
    names = ("kind", "target_id", "draft", "assistant", "asks_model", "requested_by", "base")
    return ShadowTest.objects.active().filter(**{name: getattr(test, name) for name in names}).first()


def repeat_test(*, test: ShadowTest, assistant: Assistant, asks_model: bool, by: User) -> ShadowTest:
    """Test the same draft again, perhaps on another assistant's questions. Raise ValidationError."""
    check_unchanged(test)
    return start_test(
        draft=read_draft(test),
        target_id=test.target_id,
        title=test.title,
        assistant=assistant,
        asks_model=asks_model,
        by=by,
    )


@transaction.atomic
def cancel_test(*, test: ShadowTest) -> None:
    """End it within seconds; one that has ended stays as it is."""
    test.cancel()


@transaction.atomic
def discard_test(*, test: ShadowTest, by: User) -> None:
    """Discard the draft. Raise ValidationError if the test was decided on before."""
    _decide(test, Decision.DISCARDED, by)


@transaction.atomic
def publish_test(*, test: ShadowTest, by: User) -> None:
    """Publish the draft through the service of its kind.

    Raise ValidationError if it was decided on before or its target has changed since the draft was made.
    """
    _decide(test, Decision.PUBLISHED, by)
    draft = read_draft(test)
    match draft:
        case FAQDraft():
            faq = _locked(FAQ.objects.all(), test)
            shown = Document.objects.filter(pk__in=draft.documents).exclude(status=Document.Status.DRAFT)
            if draft.status == FAQ.Status.PUBLISHED and not faq.written_answers and not shown.exists():
                said = _("“%(faq)s” has no answer yet: write one or link a document, then publish it.")
                raise ValidationError(said % {"faq": faq})
            with recording([faq.pk], by=by, reason=FAQVersion.Reason.TEST):
                draft.onto(faq)
                faq.full_clean()
                faq.save()
                draft.write_parts(faq)
            index_saved_faq(faq=faq)
        case DocumentDraft():
            document = _locked(Document.objects.all(), test)
            draft.onto(document)
            save_document(document=document)
        case ProfileDraft():
            profile = _locked(RetrievalProfile.objects.all(), test)
            save_profile(profile=profile, legs=draft.onto(profile))
        case PromptDraft():
            assistant = Assistant.objects.select_for_update(of=["self"]).get(pk=test.assistant_id)
            check_unchanged(test)
            version = PromptVersion.objects.get(pk=draft.version) if draft.version else None
            use_version(version=version, assistant=assistant)


def check_unchanged(test: ShadowTest) -> None:
    """Raise ValidationError if the draft's target has changed since, or is deleted."""
    if _present(test).fingerprint != test.base:
        raise ValidationError(
            _("It was changed by somebody since this test was started: look at it, and test your change again.")
        )


def _locked(rows: QuerySet[Row], test: ShadowTest) -> Row:
    """Lock the test's target until the transaction ends. Raise ValidationError if it has changed or is deleted."""
    row = rows.select_for_update().filter(pk=test.target_id).first()
    check_unchanged(test)
    if row is None:
        raise ValidationError(GONE)
    return row


def _present(test: ShadowTest) -> Draft:
    try:
        return present(test)
    except TargetGone as error:
        raise ValidationError(GONE) from error


def _check(draft: Draft, live: Draft, test: ShadowTest) -> None:
    if draft == live:
        raise ValidationError(_("There is nothing to test: this is what is live already."))
    if isinstance(draft, ProfileDraft):
        check_legs(draft.onto(profile := RetrievalProfile()))
        if needs_reranker(profile):
            raise ValidationError(_("This profile reranks, but no reranking model is set up."))
    if test.asks_model and not client.is_configured():
        if isinstance(draft, PromptDraft):
            raise ValidationError(_("Instructions change nothing: no language model answers here."))
        raise ValidationError(_("There is no language model to ask."))
    if isinstance(draft, DocumentDraft) and Course.objects.filter(document=test.target_id).exists():
        raise ValidationError(_("A course’s page is written from its record: it cannot be tested."))


def _decide(test: ShadowTest, decision: str, by: User) -> None:
    undecided = ShadowTest.objects.filter(pk=test.pk, decision=Decision.NONE).exclude(state__in=ACTIVE)
    if not undecided.update(decision=decision, decided_by=by.pk, decided_at=timezone.now()):
        raise ValidationError(_("This test is still running, or was decided on already."))
