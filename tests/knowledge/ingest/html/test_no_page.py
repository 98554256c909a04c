"""Answers that are no pages, and pages that only look like such answers."""

import re

import pytest

from knowledge.ingest.html import UnreadablePage
from knowledge.ingest.html.types import EmptyShell, NoPage
from tests.knowledge.ingest.html.test_convert import page

ERRORS = "<p>What an error page says, and why a server sends it, in many words.</p>" * 20


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<title>Seite nicht gefunden</title><h1>Hoppla</h1><p>Zur Startseite</p>", "no such page (“Hoppla”)"),
        ("<title>x</title><h1>Error 404</h1><p>Sorry.</p>", "no such page (“Error 404”)"),
        ("<h1>Anmelden</h1><form>Passwort <input type=password></form>", "a login form"),
        ("<div id=app>Wird geladen …</div><script src=x></script>", "an empty shell"),
        ("<h1>Wartungsarbeiten</h1><p>Ab 12 Uhr sind wir wieder da.</p>", "being maintained (“Wartungsarbeiten”)"),
        (
            '<meta http-equiv="refresh" content="3; URL=\'/new\'"><p>Moved</p>',
            "it leads to https://www.uni.example/new",
        ),
    ],
)
def test_an_answer_that_is_no_page_says_what_it_is(body: str, message: str) -> None:
    with pytest.raises(NoPage, match=re.escape(message)):
        page(body.encode())


@pytest.mark.parametrize("app", ["", "Loading ...", "Bitte aktivieren Sie JavaScript."])
def test_what_waits_for_javascript_is_told_apart_from_what_is_empty(app: str) -> None:
    with pytest.raises(EmptyShell):
        page(f"<title>Timetable</title><div id=app>{app}</div><script src=/app.js></script>".encode())
    with pytest.raises(UnreadablePage) as caught:
        page(b"<title>Timetable</title><div></div>")
    assert not isinstance(caught.value, EmptyShell)


@pytest.mark.parametrize(
    "body",
    [
        f"<title>Error 404</title><h1>Error 404</h1>{ERRORS}",
        "<header><input type=password></header><h1>Anmeldung</h1><p>Melden Sie sich am Schalter an.</p>",
        '<meta http-equiv="refresh" content="60; url=/later"><p>News of today</p>',
        '<meta http-equiv="refresh" content="5"><p>News of today</p>',
        "<h1>Loading bay</h1><p>Deliveries are taken at the loading bay behind the library.</p><script src=x></script>",
    ],
)
def test_a_page_about_such_things_is_a_page(body: str) -> None:
    assert page(body.encode()).markdown


LINKS = "".join(f"<li><a href=/{number}>Department number {number} and its pages</a></li>" for number in range(40))


@pytest.mark.parametrize(
    "body",
    [
        f"<title>Uni</title><h1>Page not found</h1><p>Perhaps you look for:</p><ul>{LINKS}</ul>",
        f"<title>404 | Uni</title><h1>Hoppla</h1><p>Meinten Sie:</p><ul>{LINKS}</ul>",
    ],
)
def test_a_missing_page_may_list_the_whole_site(body: str) -> None:
    with pytest.raises(NoPage, match="no such page"):
        page(body)


USER = "<form><label>User name <input name=j_username></label><button>Next</button></form>"
EMAIL = "<form><input type=email name=email placeholder='E-mail'><button>Next</button></form>"


@pytest.mark.parametrize(
    "body",
    [
        f"<title>Sign in</title><h1>Sign in to continue</h1>{USER}",
        f"<title>Anmelden - Moodle</title><h1>Willkommen</h1><p>Ihre Kennung</p>{USER}",
        f"<h1>Log in</h1>{EMAIL}<p><a href=/help>Forgot your address?</a></p>",
        "<h1>Anmeldung</h1><form><label for=a>Benutzerkennung</label><input id=a><input type=submit></form>",
        "<title>Campus Login</title><h1>Welcome</h1><a class='btn next' href=/start>Log in with your account</a>",
        "<h1>Anmelden</h1><p>Portal</p><form action=/Shibboleth.sso/Login><button>Weiter</button></form>",
        "<title>Login</title><p>Wählen Sie</p><button>Single Sign-On</button>",
        f"<h1>Login</h1><form><input name=u><input type=password></form><ul>{LINKS}</ul>",
    ],
)
def test_a_login_is_recognised_without_a_field_for_a_password(body: str) -> None:
    with pytest.raises(NoPage, match="a login form"):
        page(body)


CARRIED = "<form method=post action=https://idp.example/sso><input type=hidden name=SAMLRequest value=PD94></form>"
CHOICE = "<form action=/ds><select name=user_idp><option>University of A<option>University of B</select></form>"


@pytest.mark.parametrize(
    "body",
    [
        f'<body onload="document.forms[0].submit()"><noscript><p>Press Continue.</p></noscript>{CARRIED}',
        f"<title>POST data</title><p>Press the button below to proceed.</p>{CARRIED}",
        f"<title>Wait</title><p>Please wait ...</p>{CARRIED.replace('Request', 'Response')}<script>send()</script>",
        f"<h1>Auswahl der Heimateinrichtung</h1><p>Wählen Sie die Organisation, der Sie angehören.</p>{CHOICE}",
    ],
)
def test_a_station_of_single_sign_on_is_a_login(body: str) -> None:
    with pytest.raises(NoPage, match="a login form"):
        page(body)


HOW_TO = "<p>Log in with your user name and the password that you were sent. It works in all the rooms.</p>" * 6
NAMED_AND_MAILED = "<form>Name <input name=name> E-Mail <input type=email name=email></form>"


@pytest.mark.parametrize(
    "body",
    [
        f"<title>Log in</title><h1>Log in</h1>{HOW_TO}{USER}",
        f"<h1>Login</h1>{HOW_TO}<a class=btn href=/sso>Log in with your account</a>",
        f"<h1>Kontakt</h1><p>Schreiben Sie uns.</p>{EMAIL}",
        "<h1>Contact</h1><form>Login problems? <input type=email> <textarea></textarea></form>",
        f"<h1>Anmeldung</h1><p>Workshop am 3. Mai, Raum 101.</p>{NAMED_AND_MAILED}",
        f"<h1>Anmeldung</h1><p>Bitte bis zum 3. Mai.</p>{EMAIL}",
        "<h1>Newsletter-Anmeldung</h1><form>Newsletter <input type=email name=user_email></form>",
        "<h1>Log in to eduroam</h1><p>Choose the network.</p><form id=newsletter><input type=email name=e></form>",
        f"<h1>Login</h1><p>All logins of the university</p><ul>{LINKS}</ul><a class=btn href=/sso>SSO</a>",
        "<h1>Login</h1><p>Where to log in:</p><ul><li><a href=/m>Moodle</a><li><a href=/cas/login>Campus</a></ul>",
        f"<h1>Errors</h1><ul><li><a href=/e>Error 404: page not found</a>{LINKS}</ul><p>What to do</p>",
        f"<h1>Wartung</h1><p>Pläne der Haustechnik</p><ul>{LINKS}</ul>",
        f"<title>Moodle</title><h1>Courses</h1><ul>{LINKS}</ul><div>Login <input name=u><input type=password></div>",
        f"<h1>Home organisations</h1>{HOW_TO * 2}{CHOICE}",
        f"<h1>Library</h1><p>Catalogues</p><ul>{LINKS}</ul>{CHOICE}",
        f"<header>{CHOICE}</header><h1>Login</h1><p>Where it is</p>",
        "<h1>Rooms</h1><p>Choose one.</p><form><select name=room></select><input type=hidden name=token></form>",
        f"<header>{USER}</header><h1>Login</h1><p>Where it is</p>",
    ],
)
def test_a_page_about_logins_or_with_another_form_is_a_page(body: str) -> None:
    assert page(body).markdown
