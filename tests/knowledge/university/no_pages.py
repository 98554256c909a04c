"""Answers with status 200 that are no pages: errors, logins, empty shells, pages that lead on, and repairs."""

from tests.knowledge.site import Site, html, page, redirect

IDP = "http://idp.example/profile/SAML2"
CARRIED = "<input type=hidden name=RelayState value=7><input type=hidden name=SAML{} value=PD94bWw>"
SENT = f"<form method=post action={IDP}/POST/SSO>{CARRIED}<noscript><input type=submit></noscript></form>"
MENU = "".join(f"<li><a href=/study/law>Department {number}</a>" for number in range(60))
LOGIN, ELSEWHERE = "it is a login form", "http://elsewhere.example/new"
MISSING = "it says that there is no such page (“{}”), with the status of one"

#: Each answer, and why it is left out.
ERRORS = {
    "/lost": (
        "<title>Page not found</title><main><h1>Page not found</h1><p>Sorry, back to the home page.</p></main>",
        MISSING.format("Page not found"),
    ),
    "/verschwunden": (
        f"<title>Seite nicht gefunden</title><main><h1>Hoppla</h1><p>Meinten Sie:</p><ul>{MENU}</ul></main>",
        MISSING.format("Hoppla"),
    ),
    "/lost.pdf": (
        "<title>Download</title><main><p>Die Datei wurde nicht gefunden.</p></main>",
        MISSING.format("Die Datei wurde nicht gefunden."),
    ),
    "/repairs": (
        "<title>Grades</title><body><h1>Scheduled maintenance</h1><p>We are back at noon.</p>",
        "it says that the site is being maintained (“Scheduled maintenance”)",
    ),
    "/wartung": (
        "<title>Portal</title><body><h1>Wartungsarbeiten</h1><p>Das Portal ist bald wieder da.</p>",
        "it says that the site is being maintained (“Wartungsarbeiten”)",
    ),
}
LOGINS = {
    "/portal": "<title>Portal</title><main><h1>Log in</h1><form>Password <input type=password></form></main>",
    "/idp/login": "<title>Web Login Service</title><main><h1>Anmelden bei ILIAS</h1><form method=post>Benutzername "
    "<input name=j_username> Passwort <input type=password name=j_password> <button>Anmelden</button></form>"
    "<ul><li><a href=/services/advice>Passwort vergessen?</a></ul></main>",
    "/first-the-name": "<title>Sign in</title><main><h1>Sign in to continue</h1><form>User name <input name=user>"
    "<button>Next</button></form></main>",
    "/grades": f'<body onload="document.forms[0].submit()"><noscript><p>Press Continue.</p></noscript>'
    f"{SENT.format('Request')}",
    "/back-from-login": f"<title>POST data</title><body><p>Press the button to go on.</p>{SENT.format('Response')}",
    "/home-organisation": "<title>Discovery</title><main><h1>Select your home organisation</h1><form>"
    "<select name=user_idp><option>University of A<option>University of B</select></form></main>",
}
SHELLS = {
    "/shell": (
        "<title>Timetable</title><body><div id=app>Loading ...</div><script src=/app.js></script>",
        "it is an empty shell that JavaScript would fill (“Loading ...”)",
    ),
    "/drawn": (
        "<title>Rooms</title><body><div id=app>Please wait ...</div>"
        "<script>document.getElementById('app').innerHTML = '<main><h1>Rooms</h1>"
        "<p>The learning rooms open at eight and close at ten.</p></main>'</script>",
        "it is an empty shell that JavaScript would fill (“Please wait ...”)",
    ),
}
REFRESH = '<title>Moved</title><meta http-equiv="refresh" content="0; url={}"><p>You are led on.'
REFRESHED = {
    "/being-moved": (REFRESH.format("/new-home"), "it leads to /new-home"),
    "/moved-away": (REFRESH.format(ELSEWHERE), f"it leads to {ELSEWHERE}, which is not on this site"),
    "/refresh-one": (REFRESH.format("/refresh-two"), "it leads to /refresh-two"),
    "/refresh-two": (REFRESH.format("/refresh-one"), "its redirects go in a circle"),
}
TRAPS = ERRORS | {path: (body, LOGIN) for path, body in LOGINS.items()} | SHELLS | REFRESHED
EMPTY = {"/nothing": "there is no text in it"}
MEMBERS = f"{IDP}/Redirect/SSO?SAMLRequest=7"

LEFT_OUT = {
    **{path: reason for path, (_body, reason) in TRAPS.items()},
    **EMPTY,
    "/members": f"it leads to {MEMBERS}, which is not on this site",
    "/intern.docx": "it leads to /idp/login",
}
DOCUMENTS = ("/new-home", "/behind-nothing")
LINKS = (*(path for path in TRAPS if path != "/refresh-two"), *EMPTY, "/members", "/intern.docx")


def fill(site: Site) -> None:
    add = site.answers
    add |= {path: page(body.encode()) for path, (body, _reason) in TRAPS.items()}
    add["/new-home"] = page(html("The new home"))
    add["/nothing"] = page(b"<title>Nothing</title><a href='/behind-nothing'></a>")
    add["/behind-nothing"] = page(html("Behind the page without text"))
    add["/members"], add["/intern.docx"] = redirect(MEMBERS, 302), redirect("/idp/login", 302)
