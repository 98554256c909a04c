"""Sets the evidence that an assistant needs, so that it keeps a promise."""

import math
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.promise.calibration import Form, Outcome, choose_threshold
from analytics.quality.figures import Judged, read_judged
from chat.models import Assistant
from chat.pipeline.question import profile_for


def lowest_threshold(assistant: Assistant) -> float:
    """Return from which threshold on the sample can tell: today's, below which nobody saw an answer."""
    return profile_for(assistant).threshold


def outcomes_of(judged: Sequence[Judged], *, lowest: float) -> list[Outcome]:
    """Return what the promise is calibrated on: the answers of days on which no more evidence than `lowest` was needed.

    Of other days nobody saw the answers between that threshold and the one of then. An answer without evidence is shown
    at every threshold.
    """
    return [
        Outcome(math.inf if each.evidence is None else each.evidence, each.is_wrong, each.is_shown)
        for each in judged
        if each.threshold <= lowest
    ]


@transaction.atomic
def keep_promise(*, assistant: Assistant, promise: float, form: Form) -> Assistant:
    """Set the threshold that keeps the promise now. Raise ValidationError if there is none."""
    row = Assistant.objects.select_for_update(of=("self",)).select_related("profile").get(pk=assistant.pk)
    lowest = lowest_threshold(row)
    threshold = choose_threshold(outcomes_of(read_judged(row), lowest=lowest), promise, form, lowest=lowest)
    if threshold is None:
        raise ValidationError(_("The verdicts do not support this promise."))
    row.evidence_needed = threshold
    row.save(update_fields=["evidence_needed"])
    return row
