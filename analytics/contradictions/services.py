"""Services for contradictions: check, save."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from analytics.models import Contradiction

if TYPE_CHECKING:
    from core.access import Staff

State = Contradiction.State


@transaction.atomic
def dismiss_contradiction(*, contradiction: Contradiction, by: "Staff") -> bool:
    """Record that the two statements agree; they are not listed again until one of them changes. Return whether the
    contradiction was open."""
    now = timezone.now()
    rows = Contradiction.objects.filter(pk=contradiction.pk, state=State.OPEN)
    return bool(rows.update(state=State.DISMISSED, state_at=now, dismissed_at=now, dismissed_by_id=by.pk))


@transaction.atomic
def reopen_contradiction(*, contradiction: Contradiction) -> bool:
    """List a dismissed contradiction again; return whether it was dismissed."""
    rows = Contradiction.objects.filter(pk=contradiction.pk, state=State.DISMISSED)
    return bool(rows.update(state=State.OPEN, state_at=timezone.now(), dismissed_at=None, dismissed_by=None))
