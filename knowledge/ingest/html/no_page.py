"""Answers that are no pages though their status is 200: recognised by few words that say so, so that a page about them
stays one."""

import re
from collections.abc import Sequence

from knowledge.chunking.numbered_links import NUMBERED_LINK
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.sign_in import SignIn
from knowledge.ingest.html.types import EmptyShell, MissingPage, NoPage

#: Characters outside of links that such a page says at most.
LONGEST_EXCUSE, LONGEST_LOGIN, LONGEST_SHELL = 700, 300, 200
#: A page with more is a list of logins, which students look for.
MOST_LINKS = 6
MISSING = re.compile(
    r"\b(?:error|fehler|http)\W{0,3}(?:404|410)\b|^\W*404\b|\b404\W{1,3}(?:not found|error|fehler|seite)"
    r"|\b(?:page|site|document|content) (?:(?:was|could|can) ?not (?:be )?found|not found|does(?: not|n['’]t) exist"
    r"|is no longer available)"
    r"|\b(?:seite|dokument|inhalt|datei) (?:(?:wurde |konnte |ist )?(?:leider )?nicht (?:mehr )?(?:gefunden|vorhanden"
    r"|verfügbar)|existiert (?:leider )?nicht)|\bnot found\W*$|\bnicht gefunden\W*$",
    re.IGNORECASE,
)
MAINTENANCE = re.compile(
    r"\b(?:under|scheduled|down for|in) maintenance\b|\bmaintenance (?:mode|work|page)\b|^\W*maintenance\W*$"
    r"|\bwartungs(?:arbeiten|modus|seite)\b|^\W*wartung\W*$|\b(?:temporarily|currently) (?:unavailable|offline|down)\b"
    r"|\b(?:vorübergehend|zurzeit|derzeit|momentan) (?:leider )?nicht (?:erreichbar|verfügbar)\b",
    re.IGNORECASE,
)
LOGIN = re.compile(
    r"\b(?:log ?in|sign ?in|log on|anmelden|anmeldung|einloggen|authenti\w+|shibboleth|passwor[dt])\b", re.IGNORECASE
)
LOADING = re.compile(
    r"\b(?:loading|please wait|wird geladen|lädt|laden|bitte warten|einen moment)\b\W*(?:\.\.\.|…|$)"
    r"|\b(?:enable|activate|requires?|needs?|without|aktivieren Sie(?: bitte)?) java ?script\b"
    r"|\bjava ?script (?:is (?:required|disabled)|(?:zu )?aktivier\w*|muss|wird benötigt|einschalten)",
    re.IGNORECASE,
)


#: Titles and headings of a login, whole or beside the site's name. "Anmeldung" is a registration too.
LOGIN_HEADING = re.compile(
    r"(?:please |bitte )?(?:log ?[io]n|sign ?[io]n|einloggen)"
    r"(?: page| required| here| (?:to|with|at|bei|in|mit) .{1,40})?"
    r"|.{0,30}\b(?:web)?log-?in|login[- ]?(?:seite|page|bereich|service)"
    r"|.{0,30}single[- ]?sign[- ]?on.{0,20}|shibboleth"
    r"|.{0,20}(?:authenti(?:fi[kz]|[ck])\w+)(?: required| erforderlich)?|bitte melden sie sich(?: .{0,40})? an",
    re.IGNORECASE,
)
REGISTRATION = re.compile(r"(?:bitte |zentrale )?(?:anmelden|anmeldung)(?: erforderlich| bei .{1,40})?", re.IGNORECASE)
LOGIN_FORM = _("it is a login form")
BETWEEN_NAMES = re.compile(r"\s+[-\u2013\u2014·»/]\s+|\s*[|:]\s*")


def check_page(markdown: str, *, title: str, sign_in: SignIn, scripted: bool) -> None:
    """Raise NoPage if a page's title and its few words say that it is none; links are a way back, or a menu."""
    lines, own = _lines(markdown), _lines(NUMBERED_LINK.sub("", markdown))
    spoken = sum(map(len, own))
    if spoken > LONGEST_EXCUSE:
        return
    few_links = sum(1 for _link in NUMBERED_LINK.finditer(markdown)) <= MOST_LINKS
    if sign_in.handover and few_links:
        raise NoPage(LOGIN_FORM)
    is_short, words = len(markdown) <= LONGEST_SHELL, next(iter(own or lines), "")[:100]
    if is_short and (scripted or len(lines) == 1) and any(map(LOADING.search, lines)):
        raise EmptyShell(_("it is an empty shell that JavaScript would fill (“{words}”)"), words=words)
    said = [title, *(own if is_short else own[:1])]
    if any(map(MISSING.search, said)):
        raise MissingPage(_("it says that there is no such page (“{words}”), with the status of one"), words=words)
    if len(markdown) <= LONGEST_EXCUSE and any(map(MAINTENANCE.search, said)):
        raise NoPage(_("it says that the site is being maintained (“{words}”)"), words=words)
    if _is_login(sign_in, title, own, markdown, few_links=few_links):
        raise NoPage(LOGIN_FORM)


def _lines(markdown: str) -> list[str]:
    return [line for raw in markdown.split("\n") if (line := raw.strip("#*>| -"))]


def _is_login(sign_in: SignIn, title: str, own: Sequence[str], markdown: str, *, few_links: bool) -> bool:
    """Recognise a login: what it asks for, and the more surely its heading says so, the less it has to ask."""
    names = [name.strip() for said in (title, *own[:1]) for name in BETWEEN_NAMES.split(said[:200])]
    is_named, is_perhaps = any(map(LOGIN_HEADING.fullmatch, names)), any(map(REGISTRATION.fullmatch, names))
    spoken = sum(map(len, own))
    if sign_in.password and len(markdown) <= LONGEST_EXCUSE:
        return bool(LOGIN.search(title) or LOGIN.search(markdown))
    if sign_in.password:  # a portal may have the box of its login beside its lists
        return is_named or is_perhaps
    if sign_in.user or (sign_in.email and is_named):
        return spoken <= LONGEST_LOGIN and (is_named or is_perhaps)
    return sign_in.sign_on and few_links and spoken <= LONGEST_SHELL and (is_named or is_perhaps)
