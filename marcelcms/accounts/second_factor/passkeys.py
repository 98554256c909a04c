"""Passkeys: what a browser is asked for, and the check of what it returns (WebAuthn, by the library of Duo Labs).

A password was right before. Who holds the key unlocks it besides (user verification), so that a key that was found
proves nothing. Each challenge is kept in the session and is good for one answer within ten minutes.
"""

import ipaddress
import json
import time
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_noop
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, options_to_json_dict
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from core.text import strip_nul
from marcelcms.accounts.second_factor.services import new_codes, record
from marcelcms.models import Passkey, RecoveryCode

NAME = "MarcelCMS"
MOST_PASSKEYS, NAME_CHARACTERS = 10, 60
#: The session's challenges; one for each purpose, the latest.
ADDING, PROVING = "passkey_to_add", "passkey_to_prove"
CHALLENGE_SECONDS = 600
#: The most that an authenticator may call a key (WebAuthn, 4. Terminology).
ID_BYTES = 1023
#: What the library raises for an answer that is none.
UNREADABLE = (WebAuthnException, ValueError, KeyError, TypeError)


class Refused(Exception):
    """What the browser sent proves nothing."""


def is_possible(request: HttpRequest) -> bool:
    """Return whether passkeys work here: they belong to a host's name, and to no address, and need https."""
    host = _host(request)
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return request.is_secure() or host == "localhost"
    return False


def options_to_add(request: HttpRequest, user: User) -> dict[str, Any]:
    """Return what the browser needs to make a key for this account."""
    options = generate_registration_options(
        rp_id=_host(request),
        rp_name=NAME,
        user_id=f"{user.pk}".encode(),
        user_name=user.get_username(),
        user_display_name=user.get_full_name() or user.get_username(),
        exclude_credentials=_known(user),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.DISCOURAGED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
    )
    _keep(request, ADDING, user, options.challenge)
    return options_to_json_dict(options)


@transaction.atomic
def add(request: HttpRequest, user: User, *, name: str, credential: str) -> list[str]:
    """Save the key that the browser made; return recovery codes if there were none. Raise Refused."""
    challenge = _challenge(request, ADDING, user)
    # Two tabs that add at once would pass the limit together.
    User.objects.select_for_update().get(pk=user.pk)
    if Passkey.objects.filter(user=user).count() >= MOST_PASSKEYS:
        raise Refused
    try:
        made = verify_registration_response(
            credential=_read(credential),
            expected_challenge=challenge,
            expected_rp_id=_host(request),
            expected_origin=_origin(request),
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise Refused from error
    credential_id = bytes_to_base64url(made.credential_id)
    if len(made.credential_id) > ID_BYTES or Passkey.objects.filter(credential_id=credential_id).exists():
        raise Refused
    Passkey.objects.create(
        user=user,
        name=" ".join(strip_nul(name).split())[:NAME_CHARACTERS] or NAME,
        credential_id=credential_id,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
    )
    record(user, gettext_noop("passkey added"))
    return [] if RecoveryCode.objects.filter(user=user, used_at=None).exists() else new_codes(user)


def options_to_prove(request: HttpRequest, user: User) -> dict[str, Any] | None:
    """Return what the browser needs to prove one of the account's keys; None if there is none."""
    known = _known(user)
    if not known:
        return None
    options = generate_authentication_options(
        rp_id=_host(request), allow_credentials=known, user_verification=UserVerificationRequirement.REQUIRED
    )
    _keep(request, PROVING, user, options.challenge)
    return options_to_json_dict(options)


def prove(request: HttpRequest, user: User, *, credential: str) -> None:
    """Return if the browser has proven one of the account's keys. Raise Refused."""
    challenge = _challenge(request, PROVING, user)
    is_copied = False
    with transaction.atomic():
        answer = _read(credential)
        row = Passkey.objects.select_for_update().filter(user=user, credential_id=str(answer.get("rawId"))).first()
        if row is None:
            raise Refused
        try:
            proven = verify_authentication_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=_host(request),
                expected_origin=_origin(request),
                require_user_verification=True,
                credential_public_key=bytes(row.public_key),
                # Compared below, so that a copied key is told from a wrong one.
                credential_current_sign_count=0,
            )
        except UNREADABLE as error:
            raise Refused from error
        is_copied = proven.new_sign_count <= row.sign_count and bool(proven.new_sign_count or row.sign_count)
        if is_copied:
            record(user, gettext_noop("passkey refused, it may have been copied"))
        else:
            row.sign_count, row.last_used_at = proven.new_sign_count, timezone.now()
            row.save(update_fields=["sign_count", "last_used_at"])
    if is_copied:
        raise Refused


@transaction.atomic
def remove(user: User, passkey: int) -> bool:
    """Delete one of the account's keys; return False if it is none of them."""
    deleted, _rows = Passkey.objects.filter(user=user, pk=passkey).delete()
    if deleted:
        record(user, gettext_noop("passkey removed"))
    return bool(deleted)


def _known(user: User) -> list[PublicKeyCredentialDescriptor]:
    ids = Passkey.objects.filter(user=user).values_list("credential_id", flat=True)
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(each)) for each in ids]


def _keep(request: HttpRequest, purpose: str, user: User, challenge: bytes) -> None:
    request.session[purpose] = {
        "user": user.pk,
        "challenge": bytes_to_base64url(challenge),
        "at": int(time.time()),
    }


def _challenge(request: HttpRequest, purpose: str, user: User) -> bytes:
    """Return the session's challenge, which is used up with this. Raise Refused if it has none for this account."""
    kept = request.session.pop(purpose, None)
    if not kept or kept["user"] != user.pk or time.time() - kept["at"] > CHALLENGE_SECONDS:
        raise Refused
    return base64url_to_bytes(kept["challenge"])


def _read(credential: str) -> dict[str, Any]:
    try:
        found = strip_nul(json.loads(credential))
    except (ValueError, RecursionError) as error:
        raise Refused from error
    if not isinstance(found, dict):
        raise Refused
    return found


def _host(request: HttpRequest) -> str:
    host = request.get_host()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"
