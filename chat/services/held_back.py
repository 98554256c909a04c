"""Judges sentences that were held back, with optimistic locking: nobody overwrites what they have not seen."""

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.models import HeldBackSentence


class OutOfDate(Exception):
    """Somebody judged the sentence since the page was made; `sentence` is how it is now."""

    def __init__(self, sentence: HeldBackSentence) -> None:
        super().__init__(sentence.pk)
        self.sentence = sentence


@transaction.atomic
def judge_held_back(*, sentence_id: int, version: int, by: AbstractBaseUser, verdict: str) -> HeldBackSentence:
    """Save whether the sentence was rightly held back; an empty verdict takes the judgement back.

    Raise OutOfDate, ValidationError, HeldBackSentence.DoesNotExist.
    """
    if verdict and verdict not in HeldBackSentence.Verdict.values:
        raise ValidationError(_("Choose one of the two judgements."))
    sentence = HeldBackSentence.objects.select_for_update(no_key=True).get(pk=sentence_id)
    if sentence.version != version:
        raise OutOfDate(sentence)
    sentence.verdict = verdict
    sentence.judged_by_id = by.pk if verdict else None
    sentence.judged_at = timezone.now() if verdict else None
    sentence.version += 1
    sentence.save(update_fields=["verdict", "judged_by", "judged_at", "version"])
    return sentence
