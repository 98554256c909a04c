"""The crawler talks to public machines alone, unless its plan allows private ones."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.internet.protocol import Factory
from twisted.internet.testing import MemoryReactorClock
from zope.interface import implementer

from knowledge.ingest.crawler.messages import TAKEN, CrawlPlan, Failed, Finding, Page, from_line
from knowledge.ingest.crawler.ssrf import GuardedResolver
from tests.knowledge.site import Answer, Site, html, page, redirect, serving, small

ROOT = Path(__file__).resolve().parents[4]


# --- what is connected to ---


@implementer(IReactorPluggableNameResolver)
class Reactor(MemoryReactorClock):
    """Connects to nothing, and tells to what it would; each look-up of a name takes the next of its answers."""

    def __init__(self, *answers: list[str]) -> None:
        super().__init__()
        self.answers = iter(answers)
        self.nameResolver: Any = self
        GuardedResolver(self, allow_private=False).install_on_reactor()

    def installNameResolver(self, resolver: Any) -> None:
        self.nameResolver = resolver

    def resolveHostName(self, receiver: Any, _host: str, port: int, *_: Any) -> None:
        receiver.resolutionBegan(None)
        for address in next(self.answers):
            receiver.addressResolved(IPv4Address("TCP", address, port))
        receiver.resolutionComplete()

    def connect(self) -> None:
        HostnameEndpoint(self, "www.uni.example", 80).connect(Factory()).addErrback(lambda _failure: None)
        self.advance(1)

    def reached(self) -> list[str]:
        return [client[0] for client in self.tcpClients]


def test_a_name_that_is_public_at_first_and_private_then_is_refused_then() -> None:
    reactor = Reactor(["93.184.216.34"], ["127.0.0.1"], ["169.254.169.254"])
    for _ in range(3):
        reactor.connect()
    assert reactor.reached() == ["93.184.216.34"]


def test_of_a_names_addresses_only_the_public_ones_are_tried() -> None:
    reactor = Reactor(["10.0.0.1", "93.184.216.34", "127.0.0.1"])
    reactor.connect()
    assert reactor.reached() == ["93.184.216.34"]


# --- a whole crawl ---

#: The crawling process in a world where 127.0.0.2 is a public machine, whose name `rebind.example` moves away.
WORLD = """
import socket
from knowledge.ingest.crawler import ssrf as resolver
from knowledge.ingest.crawler.__main__ import main
names = {"public.example": iter(lambda: "127.0.0.2", None), "rebind.example": iter(["127.0.0.2"] + ["127.0.0.1"] * 99)}
lookup, is_allowed = socket.getaddrinfo, resolver.is_allowed
def getaddrinfo(host, *rest):
    return lookup(next(names[host]) if host in names else host, *rest)
import twisted.internet._resolver as twisted
twisted.GAIResolver.__init__.__defaults__ = (None, getaddrinfo)
resolver.is_allowed = lambda address, **options: address == "127.0.0.2" or is_allowed(address, **options)
main()
"""


def crawled(folder: Path, *start_urls: str, program: str = "", **options: Any) -> list[Finding]:
    """Return what the crawling process reports of a plan."""
    plan = CrawlPlan(
        start_urls, "MarcelCMS (+http://localhost)", str(folder), **{"delay_s": 0, "timeout_s": 1, **options}
    )
    path = folder / "plan.json"
    path.write_text(json.dumps(plan.to_wire()))
    start = ["-c", program] if program else ["-m", "knowledge.ingest.crawler"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "http_proxy": "http://127.0.0.1:9"}
    environment["TMPDIR"] = str(folder)
    done = subprocess.run(
        [sys.executable, *start, str(path)],
        cwd=ROOT,
        env=environment,
        input=TAKEN * 10_000,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [from_line(line) for line in done.stdout.splitlines()]


def of_kind(kind: type, findings: list[Finding]) -> dict[str, Any]:
    return {finding.url: finding for finding in findings if isinstance(finding, kind)}


@pytest.mark.slow
def test_no_way_of_writing_a_private_host_leads_to_it(tmp_path: Path) -> None:
    with serving(small) as site:
        hosts = ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]",
                 "[::ffff:127.0.0.1]", "169.254.169.254"]  # fmt: skip
        findings = crawled(tmp_path, *(f"http://{host}:{site.port}/" for host in hosts))
    failed = of_kind(Failed, findings)
    assert len(failed) == len(hosts)
    assert all("which is not a public address" in str(finding.reason) for finding in failed.values())
    assert site.log == []


def test_a_name_that_moves_and_redirects_of_a_public_site_lead_to_no_private_machine(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        links = ("/to-localhost", "/to-metadata", "/stays")
        site.answers["/"] = page(html("Home", links=links), Connection="close")
        site.answers["/stays"] = page(html("Stays"))
        site.answers["/to-localhost"] = redirect(f"http://localhost:{site.port}/secret")
        site.answers["/to-metadata"] = redirect(f"http://169.254.169.254:{site.port}/token")
        site.answers["/robots.txt"] = Answer(404, headers={"Connection": "close"})
        site.answers["/sitemap.xml"] = redirect(f"http://169.254.169.254:{site.port}/token")
        site.answers["/secret"] = site.answers["/token"] = page(html("Secret"))

    with serving(fill, address="0.0.0.0") as site:
        public, moving = f"http://public.example:{site.port}", f"http://rebind.example:{site.port}"
        findings = crawled(
            tmp_path, f"{public}/", f"{moving}/", program=WORLD, domains=("localhost", "169.254.169.254")
        )
    assert set(of_kind(Page, findings)) == {f"{public}/", f"{public}/stays"}
    reasons = {url: str(finding.reason) for url, finding in of_kind(Failed, findings).items()}
    assert reasons == {
        f"{public}/secret": "localhost leads to 127.0.0.1, which is not a public address",
        f"{public}/token": "169.254.169.254 leads to 169.254.169.254, which is not a public address",
        f"{moving}/": "rebind.example leads to 127.0.0.1, which is not a public address",
    }
    assert site.asked("/secret") == site.asked("/token") == 0
    assert [asked.path for asked in site.log if asked.host.startswith("rebind")] == ["/robots.txt"]


def test_not_even_an_intranets_robots_file_leads_to_a_clouds_secrets(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        small(site)
        site.answers["/robots.txt"] = redirect(f"http://169.254.169.254:{site.port}/")

    with serving(fill) as site:
        (failed,) = of_kind(Failed, crawled(tmp_path, site.url("/"), allow_private=True)).values()
    assert str(failed.reason) == "169.254.169.254 leads to 169.254.169.254, which is not a public address"
    assert [asked.path for asked in site.log] == ["/robots.txt"]
