"""Every reply tells browsers what they must not do with it, whichever address it is of and whatever went wrong."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse
from django.test import Client as Browser
from django.urls import URLPattern, URLResolver, get_resolver, path
from django.urls.resolvers import RegexPattern, RoutePattern
from pytest_django import Settings

from marcelcms.urls import urlpatterns as real_patterns
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.factories import DocumentFactory, SiteFactory, UserFactory
from tests.servers import Server

SAMPLES = {"int": "1", "str": "x", "slug": "x", "path": "x", "uuid": "7b1c9d52-4a0e-4f4c-9a8e-0d3b5a6f7c81"}
PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")
#: `(?P<app_label>auth|faqs)` and `(?P<url>.*)`, as the admin has them.
CHOICE = re.compile(r"\(\?P<\w+>\^?([^|)]*)[^)]*\)")


def sample(pattern: RoutePattern | RegexPattern) -> str:
    """Return an address that the pattern fits."""
    if isinstance(pattern, RoutePattern):
        return PARAMETER.sub(lambda found: SAMPLES[found[1] or "str"], str(pattern))
    return CHOICE.sub(lambda found: found[1].replace(".*", "nowhere"), str(pattern)).strip("^$")


def addresses(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for each in patterns:
        address = prefix + sample(each.pattern)
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, address)
        else:
            yield address


def policy_of(headers: dict[str, str]) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in headers.get("content-security-policy", "").split(";"))
    return {name: sources for name, _, sources in parts if name}


def lacking(headers: dict[str, str]) -> list[str]:
    """List what is wrong with a reply's headers, whose names are in lower case."""
    policy = policy_of(headers)
    scripts = policy.get("script-src", policy.get("default-src", "*"))
    said = {
        "nosniff": headers.get("x-content-type-options") == "nosniff",
        "referrer": headers.get("referrer-policy") in {"same-origin", "no-referrer"},
        "default-src": policy.get("default-src") == "'none'",
        "scripts": not re.search(r"unsafe|\*|data:|https?:(?!//)", scripts),
        "base": "sandbox" in policy or policy.get("base-uri") == "'none'",
        "frames": headers.get("x-frame-options") == "DENY"
        or bool(re.fullmatch(r"'none'|'self'( https://[\w.:-]+)*", policy.get("frame-ancestors", ""))),
    }
    return [name for name, holds in said.items() if not holds]


def lower(response: HttpResponse) -> dict[str, str]:
    """Return the headers after reading the rest as well: a file stays open until then."""
    if response.streaming:
        response.getvalue()
    return {name.lower(): value for name, value in response.items()}


@pytest.mark.slow
def test_every_address_there_is_replies_with_them(server: Server) -> None:
    session = Browser()
    session.force_login(UserFactory(is_superuser=True))
    staff = {"Cookie": f"sessionid={session.cookies['sessionid'].value}"}
    found = list(addresses(get_resolver().url_patterns))
    assert {"/", "/admin/login/", "/admin/chat/conversation/x/change/", "/widget/frame", "/health/live"} <= set(found)
    assert len(found) > 100
    wrong, statuses = {}, set()
    for address in sorted(set(found), key="/admin/logout/".__eq__):
        for method, who in (("POST", {}), ("GET", staff)):
            reply = Client(server).call(method, address, headers=who)
            statuses.add(reply.status)
            if problems := lacking(reply.headers):
                wrong[f"{method} {address} {reply.status}"] = problems
    assert wrong == {}
    assert {200, 302, 401, 403, 404, 405} <= statuses
    assert max(statuses) < 500


@pytest.mark.django_db
def test_files_that_come_with_the_product_have_them() -> None:
    for name in ("chat/page.css", "chat/icon.svg", "admin/css/base.css", "admin/js/core.js", "nowhere.js"):
        response = Browser().get(f"/static/{name}")
        assert response.status_code == (404 if name == "nowhere.js" else 200)
        assert lacking(lower(response)) == [], name


@pytest.mark.django_db
def test_pictures_and_documents_that_staff_brought_have_them(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    site = SiteFactory(logo=SimpleUploadedFile("logo.gif", b"GIF89a/*<script>alert(1)</script>*/"))
    logo = Browser().get(f"/widget/logo/{site.public_id}")
    kept = default_storage.save("documents/ab12/handbook.pdf", SimpleUploadedFile("x.pdf", b"%PDF-1.7"))
    DocumentFactory(file=kept)
    pdf = Browser().get(f"/{kept}")
    assert [response.status_code for response in (logo, pdf)] == [200, 200]
    assert logo["Content-Type"] == "image/gif"
    for response in (logo, pdf):
        assert lacking(lower(response)) == []
        assert "sandbox" in policy_of(lower(response))


@pytest.mark.django_db
def test_a_page_to_be_framed_names_who_may_and_everything_else_may_not_be_framed() -> None:
    site = SiteFactory(allowed_origins=["https://www.uni.example"])
    framed = lower(Browser().get(f"/widget/frame?site={site.public_id}"))
    assert lacking(framed) == []
    assert policy_of(framed)["frame-ancestors"] == "'self' https://www.uni.example"
    for address in ("/", "/admin/login/", "/widget/v1.js", "/nowhere"):
        headers = lower(Browser().get(address))
        assert (headers["x-frame-options"], policy_of(headers)["frame-ancestors"]) == ("DENY", "'none'")


def failing(_request: HttpRequest) -> HttpResponse:
    raise RuntimeError


urlpatterns = [path("fails", failing), path("api/v1/fails", failing), *real_patterns]


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_a_mistake_of_ours_has_them_and_tells_nothing_of_the_program() -> None:
    for address in ("/fails", "/api/v1/fails"):
        response = Browser(raise_request_exception=False).get(address)
        assert response.status_code == 500
        assert lacking(lower(response)) == []
        assert not re.search(r"RuntimeError|Traceback|\.py", response.content.decode())


@pytest.mark.django_db
def test_what_is_refused_before_any_page_has_them(settings: Settings) -> None:
    refused = {
        "another host": Browser().get("/", headers={"Host": "evil.example"}),
        "another host of the API": Browser().get("/api/v1/assistant", headers={"Host": "evil.example"}),
        "too long": Browser().post("/api/v1/session", "x" * 70_000, content_type="application/json"),
        "asked before": Browser().options(
            "/api/v1/session", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        ),
        "no token": Browser(enforce_csrf_checks=True).post("/admin/login/", {"username": "x"}),
    }
    assert [response.status_code for response in refused.values()] == [400, 400, 413, 403, 403]
    settings.SECURE_SSL_REDIRECT = True
    refused["not encrypted"] = Browser().get("/")
    assert refused["not encrypted"].status_code == 301
    assert {name: problems for name, response in refused.items() if (problems := lacking(lower(response)))} == {}


@pytest.mark.usefixtures("pages")
def test_streams_have_them(server: Server) -> None:
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as asked:
        headers = {name.lower(): value for name, value in asked.response.getheaders()}
        asked.rest()
    assert headers["content-type"].startswith("text/event-stream")
    assert lacking(headers) == []


@pytest.mark.django_db
def test_no_page_lists_what_the_interface_can_do() -> None:
    """The OpenAPI document of the public part is for those who write a client; it names nothing of the staff's."""
    for address in ("/api/v1/docs", "/docs", "/redoc", "/openapi.json", "/api/docs", "/api/schema", "/swagger"):
        assert Browser().get(address).status_code == 404
    schema = Browser().get("/api/v1/openapi.json")
    assert all(name.startswith("/api/v1/") for name in schema.json()["paths"])
    assert "admin" not in schema.content.decode()
