"""E-mails about a drop of quality, to staff who see the quality of answers and did not turn them off.

They hold no figure: of few people none is shown, and the page knows who may see which.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.mails import address, mail_each, send
from analytics.models import QualityDrop

if TYPE_CHECKING:
    from django.contrib.auth.models import User

VIEW_QUALITY = "analytics.view_sampledanswer"
#: What knows the permissions; others only log people in.
PERMISSIONS = "django.contrib.auth.backends.ModelBackend"
#: An older drop is no news: the mail server was away, or mails were off.
NEWS = timedelta(days=3)


def mail_drops() -> int:
    """Mail the new drops to everybody who may see them and was not mailed them yet; return how many mails."""
    if not _new_drops().exists():
        return 0
    wanted = Q(inbox_preferences=None) | Q(inbox_preferences__mails_quality=True)
    readers = get_user_model().objects.with_perm(VIEW_QUALITY, backend=PERMISSIONS).filter(wanted, is_staff=True)
    return mail_each(readers.exclude(email="").order_by("pk"), _mail)


def _new_drops() -> QuerySet[QualityDrop]:
    return QualityDrop.objects.filter(ended_at=None, noticed_at__gte=timezone.now() - NEWS)


def _mail(connection: BaseEmailBackend, reader: "User") -> bool:
    mailed = QualityDrop.objects.filter(mailed_to=reader.pk)
    visible = QualityDrop.objects.visible_to(reader).filter(pk__in=_new_drops().values("pk"))
    drops = list(visible.exclude(pk__in=mailed.values("pk")).select_related("assistant"))
    if not drops:
        return False
    said = ngettext(
        "Clearly fewer answers of an assistant are right than before, by the nightly sample:",
        "Clearly fewer answers of some assistants are right than before, by the nightly sample:",
        len(drops),
    )
    lines = [said, ""]
    for drop in drops:
        since = _("%(assistant)s, since %(day)s") % {"assistant": drop.assistant, "day": date_format(drop.first_day)}
        lines += [f"- {since}", f"  {address('quality', assistant=str(drop.assistant_id))}"]
    is_settled = send(connection, reader, _("Fewer answers are right in MarcelCMS"), lines)
    if is_settled:
        for drop in drops:
            drop.mailed_to.add(reader)
    return is_settled
