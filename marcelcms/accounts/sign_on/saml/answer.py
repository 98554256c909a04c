"""Answers of the identity provider: nothing in one is believed before its signature, and for whom, when and on which
request it was made, are checked. python3-saml does most of it; what it lets pass if it is missing is required here."""

import hashlib
from dataclasses import dataclass
from typing import Any

import xmlsec
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.response import OneLogin_Saml2_Response

from marcelcms.accounts.sign_on.entry import Refused
from marcelcms.accounts.sign_on.saml.service_provider import (
    GIVEN_NAME,
    HOSTILE,
    MAIL,
    NAME_ID,
    SURNAME,
    address,
    library_settings,
    request_data,
)
from marcelcms.accounts.sign_on.services import Person, clean_person

MOST_LETTERS = 500_000
#: An assertion is used at once; one that was made longer ago, in seconds, was kept by somebody.
OLDEST = 600
#: Seconds for which an assertion that was used is remembered: longer than it is taken for young enough.
REMEMBERED = OLDEST + 2 * Constants.ALLOWED_CLOCK_DRIFT
#: As the standard of subject identifiers limits them.
SUBJECT_LETTERS = 255
DSIG = "{http://www.w3.org/2000/09/xmldsig#}"
#: Signatures and digests by SHA-2; HMAC, whose key could be a public one, is not among them.
SIGNATURES = {
    *(
        f"http://www.w3.org/2001/04/xmldsig-more#{kind}-sha{bits}"
        for kind in ("rsa", "ecdsa")
        for bits in (256, 384, 512)
    ),
    *(f"http://www.w3.org/2007/05/xmldsig-more#sha{bits}-rsa-MGF1" for bits in (256, 384, 512)),
}
#: What a signature may do to a text before it is read. Others could leave parts of it out, or run a program.
TRANSFORMS = {"http://www.w3.org/2000/09/xmldsig#enveloped-signature", "http://www.w3.org/2001/10/xml-exc-c14n#"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer proves: who the person is, which request it answers, and what ends the provider's session."""

    in_response_to: str
    person: Person
    directory_session: dict[str, str]


def read_answer(encoded: str) -> Answer:
    """Return what the provider's answer proves, once: a second time it is refused. Raise Refused.

    Whoever calls it has to compare `in_response_to` with the requests of this browser.
    """
    if len(encoded) > MOST_LETTERS:
        raise Refused("too large")
    try:
        read = OneLogin_Saml2_Response(library_settings(), encoded)
        _check_signatures(read.get_xml_document())
        read.is_valid(request_data("sign-on-saml"), raise_exceptions=True)
        _check_strictly(read)
        answer = Answer(read.get_in_response_to(), _person(read), _directory_session(read))
        assertion_id = read.get_assertion_id()
    except (*HOSTILE, xmlsec.Error) as error:
        # What libraries say may quote the answer.
        raise Refused(f"{type(error).__name__} {getattr(error, 'code', '')}".strip()) from error
    used = hashlib.sha256(assertion_id.encode()).hexdigest()
    if not cache.add(f"sign-on:assertion:{used}", value=True, timeout=REMEMBERED):
        raise Refused("used before")
    return answer


def _check_signatures(document: Any) -> None:
    """Raise Refused for a signature of another kind than those that providers make."""
    for signature in document.iter(f"{DSIG}Signature"):
        method = signature.find(f"{DSIG}SignedInfo/{DSIG}SignatureMethod")
        references = list(signature.iter(f"{DSIG}Reference"))
        transforms = {each.get("Algorithm") for each in signature.iter(f"{DSIG}Transform")}
        if method is None or method.get("Algorithm") not in SIGNATURES:
            raise Refused("kind of signature")
        if len(references) != 1 or not references[0].get("URI", "").startswith("#"):
            raise Refused("what is signed")
        if not transforms <= TRANSFORMS or signature.find(f"{DSIG}Object") is not None:
            raise Refused("transform")


def _check_strictly(read: OneLogin_Saml2_Response) -> None:
    """Raise Refused unless the signed assertion says for whom, for what request and until when it is."""
    confirmations = read._query_assertion("/saml:Subject/saml:SubjectConfirmation")
    if len(confirmations) != 1 or confirmations[0].get("Method") != Constants.CM_BEARER:
        raise Refused("confirmation")
    data = confirmations[0].find("saml:SubjectConfirmationData", namespaces=Constants.NSMAP)
    if data.get("Recipient") != address("sign-on-saml"):
        raise Refused("recipient")
    if not data.get("NotOnOrAfter"):
        raise Refused("no end")
    if not data.get("InResponseTo") or data.get("InResponseTo") != read.get_in_response_to():
        raise Refused("request")
    if set(read.get_audiences()) != {address("sign-on-saml-metadata")}:
        raise Refused("audience")
    age = timezone.now().timestamp() - read.get_assertion_issue_instant()
    if not -Constants.ALLOWED_CLOCK_DRIFT <= age <= OLDEST + Constants.ALLOWED_CLOCK_DRIFT:
        raise Refused("age")


def _person(read: OneLogin_Saml2_Response) -> Person:
    sent: dict[str, list[Any]] = read.get_attributes()

    def first(name: str) -> object:
        return next(iter(sent.get(name, ())), None)

    if settings.SAML_SUBJECT_ATTRIBUTE == NAME_ID:
        if read.get_nameid_format() != Constants.NAMEID_PERSISTENT:
            raise Refused("NameID is not persistent")
        subject: object = read.get_nameid()
    else:
        subject = first(settings.SAML_SUBJECT_ATTRIBUTE)
    if not isinstance(subject, str) or not subject.strip() or len(subject) > SUBJECT_LETTERS:
        raise Refused("subject")
    return clean_person(
        issuer=settings.SAML_IDP["entityId"],
        subject=subject.strip(),
        email=first(MAIL),
        # The directory's own: the identity provider is the university's, and no user writes it.
        is_email_verified=True,
        username=None,
        first_name=first(GIVEN_NAME),
        last_name=first(SURNAME),
        groups=sent.get(settings.SAML_GROUPS_ATTRIBUTE),
    )


def _directory_session(read: OneLogin_Saml2_Response) -> dict[str, str]:
    return {
        "name_id": read.get_nameid() or "",
        "format": read.get_nameid_format() or "",
        "name_qualifier": read.get_nameid_nq() or "",
        "sp_name_qualifier": read.get_nameid_spnq() or "",
        "session_index": read.get_session_index() or "",
    }
