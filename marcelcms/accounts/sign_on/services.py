"""Makes, finds and links the account of who logs in with the directory, and gives it the rights of their groups."""

import logging
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from marcelcms.accounts.roles import WHOLE_UNIVERSITY
from marcelcms.models import DirectoryGroup, DirectoryIdentity

logger = logging.getLogger(__name__)
#: Letters of names, as Django stores them.
NAME_LETTERS = 150


@dataclass(frozen=True, slots=True)
class Person:
    """Who logs in, as the directory says: what its signature, or its sender, proves."""

    issuer: str
    subject: str
    email: str
    is_email_verified: bool
    username: str
    first_name: str
    last_name: str
    groups: frozenset[str]


class NoRights(Exception):
    """None of the person's groups has a role here."""


class NameTaken(Exception):
    """An account that is not linked has the person's e-mail address or name."""


class Deactivated(Exception):
    """An administrator deactivated the account."""


def clean_person(
    *,
    issuer: str,
    subject: str,
    email: object,
    is_email_verified: bool,
    username: object,
    first_name: object,
    last_name: object,
    groups: object,
) -> Person:
    """Return the person; of name, address and groups, what has not the shape it should have counts as missing."""
    address = _clean(email).lower()
    try:
        validate_email(address)
    except ValidationError:
        address = ""
    listed = groups if isinstance(groups, list) else []
    return Person(
        issuer=issuer,
        subject=subject,
        email=address if len(address) <= NAME_LETTERS else "",
        is_email_verified=is_email_verified,
        username=_clean(username)[:NAME_LETTERS],
        first_name=_clean(first_name)[:NAME_LETTERS],
        last_name=_clean(last_name)[:NAME_LETTERS],
        groups=frozenset(group for group in listed if isinstance(group, str) and "\x00" not in group),
    )


def _clean(sent: object) -> str:
    return sent.replace("\x00", "").strip() if isinstance(sent, str) else ""


def sign_in(person: Person) -> User:
    """Return the person's account with the rights of today's groups.

    Raise NoRights, after taking away what they had, NameTaken or Deactivated.
    """
    try:
        user, has_rights = _signed_in(person)
    except IntegrityError:  # they logged in twice at once, for the first time: the account is there now
        user, has_rights = _signed_in(person)
    if user is None or not has_rights:
        logger.warning("directory login without rights account=%s groups=%d", user and user.pk, len(person.groups))
        raise NoRights
    return user


@transaction.atomic
def _signed_in(person: Person) -> tuple[User | None, bool]:
    mapped = list(DirectoryGroup.objects.filter(name__in=person.groups).prefetch_related("teams"))
    identity = (
        DirectoryIdentity.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(issuer=person.issuer, subject=person.subject)
        .first()
    )
    if identity is None:
        if not mapped:
            return None, False
        identity = _first_identity(person)
    user = identity.user
    if not user.is_active:
        raise Deactivated
    _update(user, person)
    _give_rights(user, mapped)
    identity.last_login_at = timezone.now()
    identity.save(update_fields=["last_login_at"])
    return user, bool(mapped)


def _first_identity(person: Person) -> DirectoryIdentity:
    """Return the identity of who was never here. Raise NameTaken."""
    username = person.email or person.username or person.subject[:NAME_LETTERS]
    same = Q(username__iexact=username)
    if person.email:
        same |= Q(email__iexact=person.email) | Q(username__iexact=person.email)
    accounts = list(User.objects.select_for_update().filter(same)[:2])
    if not accounts:
        user = User(username=username, is_staff=True)
        user.set_unusable_password()
        user.save()
        _record(user, ADDITION, {"added": {}})
        return DirectoryIdentity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    if len(accounts) == 1 and _may_take_over(person, accounts[0]):
        return link(user=accounts[0], issuer=person.issuer, subject=person.subject, by=accounts[0])
    raise NameTaken


def _may_take_over(person: Person, user: User) -> bool:
    """Return whether the operator trusts the directory's addresses, and this one names the account beyond doubt."""
    is_same = bool(person.email) and user.email.lower() == person.email
    is_free = user.is_active and not user.is_superuser and not hasattr(user, "directory_identity")
    is_needed = user.get_username() == settings.BREAK_GLASS_USER
    return settings.SIGN_ON_LINK_BY_EMAIL and person.is_email_verified and is_same and is_free and not is_needed


@transaction.atomic
def link(*, user: User, issuer: str, subject: str, by: User) -> DirectoryIdentity:
    """Have the account log in with the directory alone from now on, and put on record who linked it."""
    identity = DirectoryIdentity.objects.create(user=user, issuer=issuer, subject=subject)
    user.set_unusable_password()
    user.save(update_fields=["password"])
    said = {"added": {"name": gettext_noop("account of the directory"), "object": user.get_username()}}
    _record(user, CHANGE, said, by=by)
    return identity


def _update(user: User, person: Person) -> None:
    """Copy name and address from the directory; what it does not send stays."""
    told = {"email": person.email, "first_name": person.first_name, "last_name": person.last_name}
    changed = {name: value for name, value in told.items() if value and getattr(user, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(user, name, value)
        user.save(update_fields=list(changed))


def _give_rights(user: User, mapped: list[DirectoryGroup]) -> None:
    """Give the account exactly the roles and teams of these groups, and put on record what that changed."""
    names = {group.role for group in mapped} | {WHOLE_UNIVERSITY for group in mapped if group.is_everywhere}
    wanted = {group.pk: group for group in Group.objects.filter(name__in=names)}
    wanted |= {team.pk: team for group in mapped for team in group.teams.all()}
    had = {group.pk: group for group in user.groups.all()}
    added = [group for pk, group in wanted.items() if pk not in had]
    lost = [group for pk, group in had.items() if pk not in wanted]
    said = [_said("added", group) for group in added] + [_said("deleted", group) for group in lost]
    user.groups.set(wanted.values())
    if user.is_staff != bool(mapped):
        user.is_staff = bool(mapped)
        user.save(update_fields=["is_staff"])
        said.append({"changed": {"fields": ["is_staff"]}})
    if said:
        _record(user, CHANGE, *said)


def _said(deed: str, group: Group) -> dict[str, Any]:
    return {deed: {"name": gettext_noop("role or team, by the directory,"), "object": group.name}}


def _record(user: User, flag: int, *said: dict[str, Any], by: User | None = None) -> None:
    """Put on record what was changed; the directory's changes are made at the login of the person themselves."""
    LogEntry.objects.log_actions((by or user).pk, [user], flag, list(said), single_object=True)
