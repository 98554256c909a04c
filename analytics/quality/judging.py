"""Who judges the sample: two members each answer, and neither sees what the other one found; a model what it can."""

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from analytics.models import SampledAnswer, SampleVerdict
from analytics.quality.sampling import REVIEWERS
from chat.models import Citation, Message

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Verdict = SampleVerdict.Verdict
OF_ANSWERS = (Verdict.RIGHT, Verdict.WRONG, Verdict.SHOULD_ABSTAIN)
OF_ABSTENTIONS = (Verdict.RIGHTLY_ABSTAINED, Verdict.SHOULD_ANSWER)


def verdicts_for(answer: SampledAnswer) -> tuple[Verdict, ...]:
    return OF_ANSWERS if answer.is_shown else OF_ABSTENTIONS


def left_to_judge(user: "User") -> QuerySet[SampledAnswer]:
    """Return what the member has not judged and too few others have; those that one has judged come first."""
    rows = SampledAnswer.objects.visible_to(user).filter(message__route=Message.Route.QUESTION)
    counted = rows.exclude(verdicts__by=user.pk).annotate(count=Count("verdicts", distinct=True))
    return counted.filter(count__lt=REVIEWERS).order_by(F("count").desc(), "day", "pk")


def model_can_judge() -> Q:
    """Return which rows of `SampledAnswer` a model can judge: those whose words and passages are still known.

    What staff wrote (`office`) is left out: it is their word, which no passage has to hold.
    """
    has_passages = Q(message__record__isnull=False) | Q(Exists(Citation.objects.filter(message=OuterRef("message"))))
    return Q(message__route=Message.Route.QUESTION, message__office__isnull=True) & has_passages


@transaction.atomic
def judge_answer(*, answer: SampledAnswer, verdict: str, by: "User") -> SampleVerdict:
    """Save a member's verdict. Raise ValidationError if it does not fit, or if enough have judged."""
    row = SampledAnswer.objects.select_for_update().get(pk=answer.pk)
    if verdict not in verdicts_for(row):
        raise ValidationError(_("Choose one of the verdicts."))
    if row.verdicts.filter(by=by).exists():
        raise ValidationError(_("You have judged this answer already."))
    if row.verdicts.count() >= REVIEWERS:
        raise ValidationError(_("Two colleagues have just judged this answer; here is the next one."))
    return SampleVerdict.objects.create(answer=row, by=by, verdict=verdict)
