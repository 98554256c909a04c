"""Answers that are no pages though their status is 200: recognised by few words that say so, so that a page about them
stays one."""

import re

from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.dom import Element, attribute, elements
from knowledge.ingest.html.types import EmptyShell, MissingPage, NoPage

#: Characters of Markdown: what such a page says besides is an excuse, and a way back.
LONGEST_EXCUSE, LONGEST_SHELL = 700, 200
EDGES = ("header", "nav", "aside", "footer", "dialog")
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


def shows_password(page: Element) -> bool:
    """Return whether the page itself, not a box at its edge, asks for a password; asked before forms are dropped."""
    fields = [field for field in elements(page, "input") if attribute(field, "type").lower() == "password"]
    return any(not any(True for _edge in field.iterancestors(*EDGES)) for field in fields)


def check_page(markdown: str, *, title: str, asks_password: bool, scripted: bool) -> None:
    """Raise NoPage if a page's title and its few words say that it is none."""
    if len(markdown) > LONGEST_EXCUSE:
        return
    lines = [line.strip("#*> ") for line in markdown.split("\n") if line.strip()]
    is_short, words = len(markdown) <= LONGEST_SHELL, lines[0][:100]
    said = [title, lines[0], *(lines[1:] if is_short else ())]
    if is_short and (scripted or len(lines) == 1) and any(map(LOADING.search, lines)):
        raise EmptyShell(_("it is an empty shell that JavaScript would fill (“{words}”)"), words=words)
    if any(map(MISSING.search, said)):
        raise MissingPage(_("it says that there is no such page (“{words}”), with the status of one"), words=words)
    if any(map(MAINTENANCE.search, said)):
        raise NoPage(_("it says that the site is being maintained (“{words}”)"), words=words)
    if asks_password and (LOGIN.search(title) or LOGIN.search(markdown)):
        raise NoPage(_("it is a login form"))
