"""Invites colleagues, and sends them the link again."""

import logging
from collections.abc import Iterable, Sequence
from smtplib import SMTPException

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from analytics.mails import sends_mails
from core.access import name_of
from marcelcms.accounts.invitations.links import days_valid, invitation_link
from marcelcms.accounts.roles import WHOLE_UNIVERSITY, role_title

logger = logging.getLogger(__name__)


class NotMailed(Exception):
    """The link could not be mailed; it can be handed over in another way."""


@transaction.atomic
def make_account(
    *, email: str, first_name: str, last_name: str, role: str, teams: Iterable[Group], is_everywhere: bool, by: User
) -> User:
    """Make an account without a password, with its role and teams, and put on record who made it.

    The address, in small letters, is the name to sign in with.
    """
    user = User(username=email.lower(), email=email.lower(), first_name=first_name, last_name=last_name, is_staff=True)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    roles = [role, WHOLE_UNIVERSITY] if is_everywhere else [role]
    user.groups.set([*Group.objects.filter(name__in=roles), *teams])
    LogEntry.objects.log_actions(by.pk, [user], ADDITION, [{"added": {}}], single_object=True)
    return user


def send_link(*, user: User, by: User) -> None:
    """Put on record that the account gets a link to choose a password, and mail it. Raise NotMailed."""
    said: list[dict[str, object]] = [{"changed": {"fields": [gettext_noop("link to choose a password")]}}]
    LogEntry.objects.log_actions(by.pk, [user], CHANGE, said, single_object=True)
    if not sends_mails():
        raise NotMailed
    with translation.override(settings.MAIL_LANGUAGE):
        subject, lines = _("Your account for MarcelCMS"), _lines(user, by)
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, "\n".join(lines), to=[user.email], headers=headers).send()
    except (OSError, SMTPException, ValueError) as error:
        # What the server says may hold addresses.
        logger.warning("link not mailed user=%d error=%s", user.pk, type(error).__name__)
        raise NotMailed from error


def _lines(user: User, by: User) -> Sequence[str]:
    names = [role_title(name) for name in user.groups.order_by("name").values_list("name", flat=True)]
    return [
        _("Hello %(name)s,") % {"name": name_of(user)},
        "",
        _("%(colleague)s made you an account for MarcelCMS, where staff look after what the assistant answers.")
        % {"colleague": name_of(by)},
        _("Your role and teams: %(names)s.") % {"names": ", ".join(names)},
        "",
        _("Choose your password here; the link holds for %(days)d days and can be used once:") % {"days": days_valid()},
        invitation_link(user),
        "",
        _("Then sign in as %(name)s.") % {"name": user.get_username()},
        "",
    ]
