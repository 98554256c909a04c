"""Sets up, checks, renews and takes away second factors; each deed stands in the audit log."""

import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from core.db.encryption import Undecryptable, decrypt, encrypt
from core.db.tokens import hash_token
from marcelcms.accounts.second_factor.secrets import (
    matching_step,
    new_recovery_codes,
    new_secret,
    plain,
)
from marcelcms.models import Passkey, RecoveryCode, RoleWithSecondFactor, SecondFactor

#: What stands for superusers among the roles.
SUPERUSER = "Superuser"


class WrongCode(Exception):
    """The code is not right, or was used already."""


class TooMany(Exception):
    """So many codes were wrong that the account has to wait."""


def has_factor(user: User) -> bool:
    return has_app(user) or Passkey.objects.filter(user=user).exists()


def has_app(user: User) -> bool:
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def needs_factor(user: User) -> bool:
    """Return whether one of the user's roles asks for it."""
    roles = set(user.groups.values_list("name", flat=True)) | ({SUPERUSER} if user.is_superuser else set())
    return RoleWithSecondFactor.objects.filter(role__in=roles).exists()


@transaction.atomic
def begin(*, user: User) -> str:
    """Return the secret for an app, the same until it is confirmed."""
    factor, is_new = SecondFactor.objects.select_for_update().get_or_create(
        user=user, defaults={"secret": encrypt(new_secret())}
    )
    if not is_new and factor.confirmed_at:
        raise ValueError("there is a second factor already")
    try:
        return decrypt(factor.secret)
    except Undecryptable:
        secret = new_secret()
        factor.secret = encrypt(secret)
        factor.save(update_fields=["secret"])
        return secret


def confirm(*, user: User, code: str) -> list[str]:
    """Have the app's codes asked for from now on; return the recovery codes. Raise WrongCode, TooMany."""
    _check(user, code, confirms=True)
    with transaction.atomic():
        SecondFactor.objects.filter(user=user).update(confirmed_at=timezone.now())
        record(user, gettext_noop("second factor set up"))
        return new_codes(user)


def check(*, user: User, code: str) -> None:
    """Return if the code of the app, or a recovery code, is right; it is used up then. Raise WrongCode, TooMany."""
    _check(user, code, confirms=False)


@transaction.atomic
def renew_codes(*, user: User) -> list[str]:
    """Return new recovery codes; the old ones end."""
    record(user, gettext_noop("new recovery codes"))
    return new_codes(user)


@transaction.atomic
def take_away(*, user: User, by: User) -> None:
    """Have no second factor asked for; a role that needs one has it set up at the next login."""
    SecondFactor.objects.filter(user=user).delete()
    Passkey.objects.filter(user=user).delete()
    RecoveryCode.objects.filter(user=user).delete()
    record(user, gettext_noop("second factor taken away"), by=by)


def _check(user: User, code: str, *, confirms: bool) -> None:
    """Check within a transaction that is kept also where the code is wrong: wrong ones are counted.

    Who has passkeys alone has no app, but recovery codes.
    """
    with transaction.atomic():
        factor = _lock_factor(user)
        if factor is None or (has_app(user) if confirms else not has_factor(user)):
            raise WrongCode
        now = timezone.now()
        if factor.waits_until and factor.waits_until > now:
            raise TooMany
        is_app = confirms or factor.confirmed_at is not None
        is_right = (is_app and _takes(factor, plain(code))) or (not confirms and _takes_recovery(user, plain(code)))
        if is_right:
            factor.failures, factor.waits_until = 0, None
        else:
            factor.failures += 1
            if factor.failures >= settings.AXES_FAILURE_LIMIT:
                factor.failures, factor.waits_until = 0, now + timedelta(seconds=wait_seconds())
        factor.save(update_fields=["failures", "waits_until", "last_step"])
    if not is_right:
        raise TooMany if factor.waits_until else WrongCode


def _lock_factor(user: User) -> SecondFactor | None:
    """Lock what counts wrong codes; make it for who has passkeys alone."""
    rows = SecondFactor.objects.select_for_update().filter(user=user)
    if not rows.exists() and Passkey.objects.filter(user=user).exists():
        SecondFactor.objects.get_or_create(user=user, defaults={"secret": encrypt(new_secret())})
    return rows.first()


def wait_seconds() -> int:
    return int(settings.AXES_COOLOFF_TIME.total_seconds())


def _takes(factor: SecondFactor, code: str) -> bool:
    step = matching_step(decrypt(factor.secret), code, now=time.time(), after=factor.last_step)
    if step is None:
        return False
    factor.last_step = step
    return True


def _takes_recovery(user: User, code: str) -> bool:
    used = RecoveryCode.objects.filter(user=user, digest=hash_token(code), used_at=None).update(used_at=timezone.now())
    if used:
        record(user, gettext_noop("a recovery code used"))
    return bool(used)


def new_codes(user: User) -> list[str]:
    """Return ten recovery codes, which replace all others."""
    codes = new_recovery_codes()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, digest=hash_token(plain(code))) for code in codes])
    return codes


def record(user: User, deed: str, *, by: User | None = None) -> None:
    """Write a deed about a second factor into the audit log, in the caller's transaction."""
    said: list[Any] = [{"changed": {"fields": [deed]}}]
    LogEntry.objects.log_actions((by or user).pk, [user], CHANGE, said, single_object=True)
