"""Tells in words why a change would not change the answers to questions."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.models import ShadowResult

Unchanged = ShadowResult.Unchanged
#: Why nothing changed for questions that led to what was changed.
SAME_FOR: Mapping[str, str | Promise] = {
    "faq": _("The documents of this FAQ stand in the same places as without the change."),
    "document": _("This document stands in the same place as without the change."),
    "profile": _("The profile finds the same documents in the same order."),
    "prompt": _("The answers have the same text."),
}
NOT_REACHED_FOR: Mapping[str, str | Promise] = {
    "faq": _("They are not matched to this FAQ: none of its phrasings is close enough."),
    "document": _("This document is not found for them."),
}


def explain_unchanged(kind: str, counts: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return how many questions did not change for a reason, and the reason in a sentence, the most frequent first.

    `counts` is by `ShadowResult.unchanged`; `kind` is that of the test.
    """
    said: Mapping[str, str | Promise] = {
        Unchanged.NOT_REACHED: NOT_REACHED_FOR.get(kind, Unchanged.NOT_REACHED.label),
        Unchanged.SAME: SAME_FOR[kind],
        Unchanged.ABSTAINS: Unchanged.ABSTAINS.label,
        Unchanged.NO_QUESTION: Unchanged.NO_QUESTION.label,
    }
    reasons = [(counts[name], str(sentence)) for name, sentence in said.items() if counts.get(name)]
    return sorted(reasons, key=lambda each: -each[0])
