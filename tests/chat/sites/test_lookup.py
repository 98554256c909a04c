"""Sites: where the widget may stand, how it looks there, and what staff do with it."""

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client as Browser
from django.urls import reverse
from pytest_django import Settings
from websockets.exceptions import ConnectionClosed, InvalidStatus

from chat.models import Site
from chat.models.validators import browser_origin, contrast, is_secure
from chat.services.widget_config import widget_config
from chat.sites import rate_limits
from chat.sites.lookup import load_site
from chat.views import SCRIPT
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, SiteFactory, UserFactory
from tests.servers import Server, Tab

UNI, LIBRARY, EVIL = "https://www.uni.example", "https://library.uni.example:8443", "https://evil.example"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def policy_of(reply: HttpResponse) -> dict[str, str]:
    """By directive, which come in any order."""
    return dict(part.strip().split(" ", 1) for part in reply["Content-Security-Policy"].split(";"))


# --- pure ---


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://www.uni.example", "https://www.uni.example"),
        (" HTTPS://WWW.Uni.Example:443/path?x#y ", "https://www.uni.example"),
        ("https://uni.example:8443", "https://uni.example:8443"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("https://universität.example", "https://xn--universitt-y5a.example"),
    ],
)
def test_an_origin_is_written_as_browsers_send_it(text: str, origin: str) -> None:
    assert browser_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    ["", "null", "*", "https://*.uni.example", "www.uni.example", "ftp://uni.example", "javascript:alert(1)", "https://",
     "https://a b.example", "https://uni.example;script-src", "https://uni.example,evil.example", "https://user@uni.example",
     "https://uni.example:99999", "https://[::1", "https://-a.example", "data:text/html,x"],
)  # fmt: skip
def test_what_is_no_origin_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        browser_origin(text)


def test_only_https_and_this_machine_are_secure() -> None:
    assert all(map(is_secure, (UNI, "http://localhost:8000", "http://127.0.0.1", "http://[::1]:8000")))
    assert not any(
        map(is_secure, ("http://www.uni.example", "http://localhost.evil.example", "http://127.0.0.1.nip.io"))
    )


def test_contrast_is_wcags() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#1d4f7c", "#1D4F7C") == 1


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, [], "192.0.2.1"),
        (0, ["203.0.113.9"], "192.0.2.1"),
        (1, ["203.0.113.9"], "203.0.113.9"),
        (1, ["198.51.100.7, 203.0.113.9"], "203.0.113.9"),
        (2, ["1.1.1.1, 198.51.100.7", "203.0.113.9"], "198.51.100.7"),
        (2, ["203.0.113.9"], "203.0.113.9"),
        (1, [], "192.0.2.1"),
    ],
)
def test_a_client_is_who_the_trusted_proxies_saw(
    settings: Settings, proxies: int, forwarded: list[str], address: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert rate_limits.trusted_address("192.0.2.1", forwarded) == address


def test_an_address_has_another_pseudonym_every_day(monkeypatch: pytest.MonkeyPatch) -> None:
    first = rate_limits.pseudonym("192.0.2.1")
    assert first == rate_limits.pseudonym("192.0.2.1") != rate_limits.pseudonym("192.0.2.2")
    assert (
        rate_limits.pseudonym("2001:db8::1")
        == rate_limits.pseudonym("2001:db8::ffff:1")
        != rate_limits.pseudonym("2001:db8:0:1::1")
    )
    monkeypatch.setattr("chat.sites.rate_limits.time.time", lambda: 4_000_000_000)
    assert rate_limits.pseudonym("192.0.2.1") != first


# --- what staff may enter ---


@pytest.mark.django_db
def test_a_site_is_checked_and_its_origins_are_written_as_browsers_send_them() -> None:
    site = SiteFactory.build(assistant=AssistantFactory())
    site.allowed_origins = ["HTTPS://www.Uni.example:443/", "https://www.uni.example", "http://localhost:8000"]
    site.accent = "#1D4F7C"
    site.full_clean()
    assert site.allowed_origins == ["https://www.uni.example", "http://localhost:8000"]
    assert site.accent == "#1d4f7c"
    for name, wrong in {
        "accent": ["red", "#fff", "#ffff00", "#1d4f7c;", "url(x)"],
        "allowed_origins": [["http://www.uni.example"], ["*"], ["null"], ["https://a.example 'unsafe-inline'"]],
        "position": ["top"],
        "logo": [SimpleUploadedFile("x.svg", b"<svg onload=alert(1)>"), SimpleUploadedFile("x.png", b"<svg>"),
                 SimpleUploadedFile("x.png", PNG + b"\0" * 200_001), SimpleUploadedFile("x", PNG)],
        "privacy_url": ["javascript:alert(1)"],
    }.items():  # fmt: skip
        for value in wrong:
            other = SiteFactory.build(assistant=site.assistant, **{name: value})
            with pytest.raises(ValidationError) as refused:
                other.full_clean()
            assert name in refused.value.message_dict


@pytest.mark.django_db
def test_staff_make_a_site_and_copy_its_snippet(admin_client: Browser, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://chat.uni.example"
    assistant = AssistantFactory()
    form = {
        "name": "Main site",
        "assistant": assistant.pk,
        "allowed_origins": "https://www.uni.example/\r\n\r\nhttps://library.uni.example:8443",
        "accent": "#1d4f7c",
        "position": "left",
        "is_active": "on",
    }
    wrong = admin_client.post(reverse("admin:chat_site_add"), form | {"allowed_origins": "www.uni.example"})
    assert "is no origin" in wrong.content.decode()
    assert admin_client.post(reverse("admin:chat_site_add"), form).status_code == 302
    site = Site.objects.get()
    assert site.allowed_origins == ["https://www.uni.example", "https://library.uni.example:8443"]
    page = admin_client.get(reverse("admin:chat_site_change", args=[site.pk])).content.decode()
    snippet = (
        f'&lt;script async src="https://chat.uni.example/widget/v1.js" data-site="{site.public_id}" '
        'data-lang="auto"&gt;&lt;/script&gt;'
    )
    assert snippet in page
    assert f"/widget/test?site={site.public_id}" in page
    assert "https://www.uni.example\nhttps://library.uni.example:8443" in page
    assert "onclick" not in page
    assert admin_client.get(reverse("admin:chat_site_changelist")).status_code == 200


@pytest.mark.django_db
def test_there_is_one_default_site(admin_client: Browser) -> None:
    site = SiteFactory(is_default=True)
    form = {"name": "x", "assistant": site.assistant_id, "accent": "#1d4f7c", "position": "left", "is_default": "on"}
    page = admin_client.post(reverse("admin:chat_site_add"), form).content.decode()
    assert "own page already" in page
    assert Site.objects.count() == 1


# --- the pages that are embedded ---


@pytest.fixture
def browser(db: None) -> Browser:
    return Browser()


def test_the_script_is_for_every_page_and_is_cached(browser: Browser) -> None:
    reply = browser.get("/widget/v1.js")
    assert reply.status_code == 200
    assert reply.content == SCRIPT.read_bytes()
    assert reply["Content-Type"] == "text/javascript; charset=utf-8"
    assert reply["Access-Control-Allow-Origin"] == "*"
    assert reply["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "max-age=3600" in reply["Cache-Control"]
    assert not reply.cookies
    assert browser.get("/widget/v1.js", headers={"If-None-Match": reply["ETag"]}).status_code == 304
    zipped = browser.get("/widget/v1.js", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(zipped.content) == reply.content
    assert zipped["ETag"] != reply["ETag"]
    assert "Accept-Encoding" in zipped["Vary"]


def test_a_frame_may_stand_where_its_site_may_and_nowhere_else(browser: Browser) -> None:
    site = SiteFactory(allowed_origins=[UNI, LIBRARY])
    reply = browser.get(f"/widget/frame?site={site.public_id}&lang=de&theme=dark")
    policy = policy_of(reply)
    assert policy["frame-ancestors"] == f"'self' {UNI} {LIBRARY}"
    assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert "X-Frame-Options" not in reply
    page = reply.content.decode()
    for part in (
        f'data-site="{site.public_id}"',
        'data-lang="de"',
        'data-theme="dark"',
        'lang="de"',
        'data-mode="inline"',
    ):
        assert part in page
    odd = browser.get("/widget/frame", {"site": site.public_id, "lang": '"><script>alert(1)</script>', "theme": "x"})
    assert "alert" not in odd.content.decode()
    assert browser.get("/widget/frame?site=nonsense").status_code == 404
    assert browser.get("/")["X-Frame-Options"] == "DENY"


def test_the_test_page_is_for_staff_and_loads_the_script_from_another_origin(browser: Browser) -> None:
    site = SiteFactory(allowed_origins=["http://127.0.0.1:8000"])
    address = f"/widget/test?site={site.public_id}"
    assert "/admin/login/" in browser.get(address, headers={"Host": "127.0.0.1:8000"})["Location"]
    browser.force_login(UserFactory())
    reply = browser.get(f"{address}&mode=inline", headers={"Host": "127.0.0.1:8000"})
    page = reply.content.decode()
    assert 'src="http://localhost:8000/widget/v1.js"' in page
    assert 'data-mode="inline"' in page
    assert "will not appear" not in page
    policy = policy_of(reply)
    assert policy["script-src"] == "http://localhost:8000"
    assert policy["connect-src"] == "http://localhost:8000 ws://localhost:8000"
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in reply["Content-Security-Policy"]
    other = browser.get(address, headers={"Host": "localhost:8000"}).content.decode()
    assert "will not appear" in other


def test_a_logo_is_served_as_the_picture_it_is(browser: Browser, settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    site = SiteFactory(logo=SimpleUploadedFile("../My Logo.PNG", PNG))
    reply = browser.get(f"/widget/logo/{site.public_id}")
    assert (reply.content, reply["Content-Type"]) == (PNG, "image/png")
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in reply["Content-Security-Policy"]
    assert reply["Cross-Origin-Resource-Policy"] == "cross-origin"
    info = widget_config(load_site(site.public_id), base_url="https://chat.uni.example/")
    assert info["theme"]["logo"] == f"https://chat.uni.example/widget/logo/{site.public_id}"
    assert browser.get(f"/widget/logo/{SiteFactory().public_id}").status_code == 404


# --- origins over HTTP ---


def test_a_page_reads_replies_only_where_its_site_may_stand(server: Server) -> None:
    here, there = SiteFactory(allowed_origins=[UNI]), SiteFactory(allowed_origins=[LIBRARY])
    page = Client(server, origin=UNI)
    allowed = page.get(f"/api/v1/assistant?site={here.public_id}")
    assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (200, UNI)
    assert "access-control-allow-credentials" not in allowed.headers
    assert "origin" in allowed.headers["vary"].lower()
    for origin, site in ((UNI, there), (EVIL, here), ("null", here), (UNI.replace("https", "http"), here),
                         (f"{UNI}.evil.example", here), (f"{UNI}:444", here)):  # fmt: skip
        refused = Client(server, origin=origin).get(f"/api/v1/assistant?site={site.public_id}")
        assert (refused.status, refused.json["code"]) == (403, "forbidden_origin"), origin
        assert "access-control-allow-origin" not in refused.headers
        session = Client(server, origin=origin).post("/api/v1/session", {"consent": True, "site": site.public_id})
        assert (session.status, session.json["code"]) == (403, "forbidden_origin")

    client = Client.begin(server, origin=UNI, site=here.public_id)
    listed = client.get("/api/v1/conversations")
    assert (listed.status, listed.headers["access-control-allow-origin"]) == (200, UNI)
    stolen = Client(server, client.token, origin=LIBRARY).get("/api/v1/conversations")
    assert (stolen.status, stolen.json["code"]) == (403, "forbidden_origin")
    own = Client(server, client.token, origin=server.origin).get("/api/v1/conversations")
    assert (own.status, own.headers["access-control-allow-origin"]) == (200, server.origin)
    assert "access-control-allow-origin" not in Client(server, client.token).get("/api/v1/conversations").headers


def test_a_page_may_read_that_its_session_is_over(server: Server, settings: Settings) -> None:
    site = SiteFactory(allowed_origins=[UNI])
    client = Client.begin(server, origin=UNI, site=site.public_id)
    settings.SESSION_TOKEN_SECONDS = -1
    over = client.get("/api/v1/conversations")
    assert (over.status, over.json["code"], over.headers["access-control-allow-origin"]) == (
        401,
        "session_expired",
        UNI,
    )
    assert "access-control-allow-origin" not in Client(server, "x", origin=EVIL).get("/api/v1/conversations").headers


def test_a_browser_may_ask_before_it_sends(server: Server) -> None:
    SiteFactory(allowed_origins=[UNI])
    asking = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization,content-type"}
    for path in ("/api/v1/session", "/api/v1/my-data", "/api/v1/messages/1/feedback"):
        allowed = Client(server, origin=UNI).call("OPTIONS", path, headers=asking)
        assert allowed.status == 204
        assert allowed.headers["access-control-allow-origin"] == UNI
        assert {"PUT", "PATCH", "DELETE"} <= set(allowed.headers["access-control-allow-methods"].split(", "))
        assert "Authorization" in allowed.headers["access-control-allow-headers"]
        refused = Client(server, origin=EVIL).call("OPTIONS", path, headers=asking)
        assert refused.status == 403
        assert "access-control-allow-origin" not in refused.headers


@pytest.mark.usefixtures("pages")
def test_a_stream_can_be_read_where_its_site_may_stand(server: Server) -> None:
    site = SiteFactory(allowed_origins=[UNI])
    client = Client.begin(server, origin=UNI, site=site.public_id)
    with client.stream_ask(QUESTION) as stream:
        assert stream.response.getheader("Access-Control-Allow-Origin") == UNI
        stream.rest()


def test_staff_are_told_what_stands_where_they_give_no_greeting() -> None:
    words = Path(django_settings.BASE_DIR, "chat/widget/src/words/en.ts").read_text()
    heading = re.search(r'welcome_title: "(.*)"', words)[1]  # type: ignore[index]
    assert f"“{heading}”" in Site._meta.get_field("greeting").help_text


# --- origins of websockets ---


def test_a_socket_opens_only_where_some_site_may_stand(server: Server) -> None:
    SiteFactory(allowed_origins=[UNI])
    SiteFactory(allowed_origins=[LIBRARY], is_active=False)
    for origin in (EVIL, "null", LIBRARY, "http://127.0.0.1:9", "http://localhost:8001", "https://127.0.0.1"):
        with pytest.raises(InvalidStatus, match="403"):
            Tab(server, "", origin=origin)
    Tab(server, "", origin=UNI).close()


@pytest.mark.usefixtures("pages")
def test_a_token_works_only_on_its_own_sites_pages(server: Server) -> None:
    here, there = SiteFactory(allowed_origins=[UNI]), SiteFactory(allowed_origins=[LIBRARY])
    token = server.session(site=here.public_id)
    with Tab(server, token, origin=UNI) as tab:
        assert tab.answer(QUESTION).end["status"] == "complete"
    with Tab(server, token) as frame:  # the site's frame stands on this server's own page
        assert frame.answer(QUESTION).end["status"] == "complete"
    with Tab(server, token, origin=LIBRARY) as stolen:
        assert stolen.refused({"type": "resume", "conversation": stolen.conversation})["code"] == "forbidden_origin"
        with pytest.raises(ConnectionClosed) as closed:
            stolen.next()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403
    assert there.is_active
