"""Permissions for reports: what a member of staff may export, and which stored files they may open."""

from dataclasses import dataclass

from django.conf import settings

from analytics.dashboard.visibility import SEE_SMALL_GROUPS
from analytics.models import StoredReport
from chat.models import Assistant
from core.access import Staff, sees_everything

EXPORT = "analytics.export_reports"
SEE_PERSONAL_TEXT = "analytics.see_personal_text"


@dataclass(frozen=True, slots=True)
class Rights:
    """`smallest` is how many visitors a group of answers must have to be shown; `assistants` (ids) counts only where
    not everything `is_whole`: then also what belongs to no assistant any more is theirs to see."""

    sees_personal_text: bool
    smallest: int
    is_whole: bool
    assistants: frozenset[int]


def rights_for(user: Staff) -> Rights:
    is_whole = sees_everything(user)
    own = () if is_whole else Assistant.objects.visible_to(user).values_list("pk", flat=True)
    return Rights(
        sees_personal_text=user.has_perm(SEE_PERSONAL_TEXT),
        smallest=1 if user.has_perm(SEE_SMALL_GROUPS) else settings.SMALLEST_GROUP,
        is_whole=is_whole,
        assistants=frozenset(own),
    )


def may_open(stored: StoredReport, user: Staff) -> bool:
    """Return whether the user may see today all that the file may hold: its author may have lost a right since."""
    if not user.has_perm(EXPORT) or not (stored.requested_by_id == user.pk or sees_everything(user)):
        return False
    rights = rights_for(user)
    if not stored.is_masked and not rights.sees_personal_text:
        return False
    if stored.smallest < rights.smallest:
        return False
    return rights.is_whole or (not stored.is_whole and rights.assistants.issuperset(stored.assistants))
