"""A real OpenID Connect provider for the tests: npm's oidc-provider, and a browser's way through it."""

import json
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from tests.runtime.processes import ROOT
from tests.widget.toolchain import node_folder, with_packages

FOLDER: Path = ROOT / "tests" / "fakes" / "oidc_provider"
PUBLIC_URL = "http://testserver"
CLIENT_ID, CLIENT_SECRET = "marcel", "a-secret-of-the-tests"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Visit:
    """A browser at the provider: it keeps cookies, and follows redirects until they lead back to the product."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, url: str, data: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Return status, where it leads, and the page."""
        sent = urlencode(data).encode() if data is not None else None
        try:
            with self._opener.open(urllib.request.Request(url, sent), timeout=15) as answer:
                return answer.status, "", answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, urljoin(url, error.headers.get("Location", "")), error.read().decode()

    def follow(self, url: str, data: dict[str, str] | None = None) -> str:
        """Return the address at the product that it leads to."""
        for _step in range(10):
            status, place, page = self.open(url, data)
            assert status in {302, 303}, page
            if place.startswith(PUBLIC_URL):
                return place
            url, data = place, None
        raise AssertionError("it leads nowhere")

    def log_out(self, url: str) -> str:
        """Confirm the provider's question; return the address at the product that it leads to."""
        status, _place, page = self.open(url)
        assert status == 200, page
        (action,) = re.findall(r'action="([^"]+)"', page)
        (secret,) = re.findall(r'name="xsrf" value="([^"]+)"', page)
        return self.follow(action, {"xsrf": secret, "logout": "yes"})


class Provider:
    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def set_person(self, **claims: Any) -> None:
        """Say who the next browser logs in as; without claims it refuses."""
        body = json.dumps(claims or None).encode()
        urllib.request.urlopen(f"{self.issuer}/test/person", body, timeout=15).close()


@contextmanager
def running_provider(port: int, public_url: str = PUBLIC_URL) -> Iterator[Provider]:
    environment = with_packages(FOLDER)
    back = [f"{public_url}/sign-on/return/", f"{public_url}/admin/login/"]
    command = [node_folder() / "node", "server.mjs", str(port), *back]
    with subprocess.Popen(
        command, cwd=FOLDER, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert "listening" in process.stdout.readline()
        yield Provider(f"http://127.0.0.1:{port}")
        process.terminate()


def path_of(url: str) -> str:
    """Return the path and query, as the test client takes them."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"
