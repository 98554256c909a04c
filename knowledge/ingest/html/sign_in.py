"""Forms and buttons by which a page asks who its reader is, looked at before forms are dropped."""

import re
from dataclasses import dataclass

from knowledge.ingest.html.dom import INERT, Element, attribute, elements, holds, named, read_text

#: A box at the edge of a page asks too, and the page is one all the same.
EDGES = ("header", "nav", "aside", "footer", "dialog")
WRITTEN = frozenset({"", "text", "email", "tel", "number"})
NAMING = ("name", "id", "autocomplete", "placeholder", "aria-label")
USER = re.compile(r"user|login|log in|sign ?in|account|kennung|benutzer|nutzer|\buid\b|shib", re.IGNORECASE)
EMAIL = re.compile(r"e-?mail", re.IGNORECASE)
#: What else a form of one field may be for.
OTHERWISE = re.compile(r"newsletter|subscri|abonn|search|such|verteiler|mailing|feedback", re.IGNORECASE)
SIGN_ON = re.compile(
    r"\b(?:single[- ]?sign[- ]?on|sso|shibboleth|dfn-aai|edugain)\b"
    r"|\b(?:log ?in|sign ?in|continue|anmelden|einloggen|weiter)\b.{0,20}\b(?:with|via|using|through|mit|über|per)\b"
    r"|\b(?:with|via|using|through|mit|über|per)\b.{1,50}\b(?:log ?in|sign ?in|anmelden|einloggen)\b",
    re.IGNORECASE,
)
SIGN_ON_ADDRESS = re.compile(r"shibboleth|saml|/sso\b|/oauth2?/|/oidc/|/openid|/cas/login|/auth/realms/", re.IGNORECASE)
BUTTON = re.compile("btn|button")
#: Fields by which SAML, WS-Federation and OpenID Connect carry a reader on to a login or back from it ...
CARRIED = frozenset({"SAMLRequest", "SAMLResponse", "RelayState", "wresult", "id_token"})
#: ... and by which a discovery service asks for the home organisation.
DISCOVERY = frozenset({"user_idp", "idpentityid", "entityid"})


@dataclass(frozen=True, slots=True)
class SignIn:
    """What a page asks for, or offers: its own parts, not boxes at its edges."""

    password: bool = False
    user: bool = False
    email: bool = False
    sign_on: bool = False
    #: It is a station of a single sign-on, between the page that was asked for and the login.
    handover: bool = False


def find_sign_in(page: Element) -> SignIn:
    passwords, users, emails = False, False, False
    forms: dict[Element | None, str | None] = {None: ""}
    for field in elements(page, "input"):
        kind = attribute(field, "type").lower()
        if kind not in {*WRITTEN, "password"} or not _is_own(field):
            continue
        passwords |= kind == "password"
        form = next(field.iterancestors("form"), None)
        if form not in forms:
            forms[form] = _read_form(form)
        if kind == "password" or (around := forms[form]) is None:
            continue
        said = " ".join((*(attribute(field, name) for name in NAMING), around))
        if not OTHERWISE.search(said):
            users |= bool(USER.search(said))
            emails |= bool(EMAIL.search(said))
    triggers = elements(page, "a", "button", "input")
    sign_on = any(_is_sign_on(each) and _is_own(each) for each in triggers)
    handover = any(_is_handover(each) and _is_own(each) for each in elements(page, "input", "select"))
    return SignIn(passwords, users, emails, sign_on, handover)


def _read_form(form: Element) -> str | None:
    """Return what a form of one field says; None for others, such as those of contacts and registrations."""
    written = sum(attribute(each, "type").lower() in WRITTEN for each in elements(form, "input"))
    if written > 1 or holds(form, "textarea"):
        return None
    said = (*(attribute(form, name) for name in ("class", "id", "action")), read_text(form)[:300])
    return " ".join(said)


def _is_sign_on(trigger: Element) -> bool:
    """Recognise a button, not a link in a list of services: its words or its address name another site's login."""
    if trigger.tag == "a" and not named(trigger, BUTTON) and attribute(trigger, "role") != "button":
        return False
    if trigger.tag == "input" and attribute(trigger, "type").lower() not in {"submit", "button", "image"}:
        return False
    form = None if trigger.tag == "a" else next(trigger.iterancestors("form"), None)
    words = " ".join((read_text(trigger), attribute(trigger, "value"), attribute(trigger, "title")))
    address = attribute(trigger, "href") or (attribute(form, "action") if form is not None else "")
    return bool(SIGN_ON.search(words[:300]) or SIGN_ON_ADDRESS.search(address))


def _is_handover(field: Element) -> bool:
    name = attribute(field, "name")
    if field.tag == "input" and attribute(field, "type").lower() == "hidden":
        return name in CARRIED
    return name.lower() in DISCOVERY


def _is_own(element: Element) -> bool:
    return not any(True for _around in element.iterancestors(*EDGES, *INERT))
