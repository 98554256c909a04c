"""All of `docker/compose.yml` in containers: networks, volumes, secrets, TLS, an upgrade, a backup and its restore.

`make test ARGS="-m slow -s tests/deployment/whole"`; it prints what was done after how many seconds.
"""

import gzip
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import PUBLIC
from tests.deployment.images import CERTIFICATES, NAMES, PODMAN, ROOT, build, need_programs, output
from tests.deployment.whole.site import NAMES_OF_FRONT, Site, podman, remove
from tests.upgrade.make import DUMPS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

HERE = Path(__file__).parent
HOST = PUBLIC["ALLOWED_HOSTS"]
OTHERS = {
    "postgres": "pgvector/pgvector:pg17",
    "valkey": "valkey/valkey:9-alpine",
    "nginx": "library/nginx:1.30-alpine",
}
QUESTION, ANSWER = "How much is the semester contribution?", "318.40"


@pytest.fixture(scope="module")
def site(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Build the images and make the folder `docker` as its README says; nothing is started yet."""
    need_programs()
    for target, name in OTHERS.items():
        lent = (NAMES, CERTIFICATES) if target == "nginx" else (NAMES,)
        build(HERE / "Dockerfile", f"docker.io/{name}", target=target, folder=HERE.parent, lent=lent)
    pooler = build(ROOT / "docker" / "Dockerfile", "localhost/marcelcms-pgbouncer:tests", target="pgbouncer")
    folder = tmp_path_factory.mktemp("whole") / "docker"
    shutil.copytree(ROOT / "docker", folder)
    output(folder / "make-secrets")
    secrets = folder / "secrets"
    files = ("-keyout", secrets / "tls_key", "-out", secrets / "tls_certificate")
    named = ("-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}")
    output("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *named, *files)
    output("chown", "0:10001", secrets / "tls_key", secrets / "tls_certificate")
    output("chmod", "440", secrets / "tls_key", secrets / "tls_certificate")
    output("install", "-d", "-o", "10001", "-g", "10001", folder / "backups")
    (folder / "acme").mkdir()
    proxy = folder / "nginx" / "nginx.conf"
    proxy.write_text(proxy.read_text().replace("resolver 127.0.0.11", f"resolver {NAMES_OF_FRONT}"))
    found = Site(
        folder,
        {
            "PUBLIC_HOST": HOST,
            "HTTP_PORT": str(free_port()),
            "HTTPS_PORT": str(free_port()),
            "WEB_REPLICAS": "2",
            "MARCELCMS_IMAGE": image,
            "PGBOUNCER_IMAGE": pooler,
        },
    )
    remove(found)  # what a run that was killed has left
    try:
        yield found
    finally:
        remove(found)


class Visitor:
    """A browser that comes in over nginx, and trusts the site's certificate alone."""

    def __init__(self, site: Site) -> None:
        self.port = int(site.variables["HTTPS_PORT"])
        self.context = ssl.create_default_context(cafile=str(site.folder / "secrets" / "tls_certificate"))

    def session(self) -> str:
        with closing(HTTPSConnection(HOST, timeout=60)) as connection:
            connection.sock = self.context.wrap_socket(self._way(), server_hostname=HOST)
            connection.request("POST", "/api/v1/session", '{"consent": true}', {"Content-Type": "application/json"})
            token: str = json.loads(connection.getresponse().read())["token"]
        return token

    def ask(self, text: str) -> list[dict[str, Any]]:
        """Return the events of an answer."""
        frame = {"type": "ask", "token": self.session(), "text": text}
        frame |= {"conversation": str(uuid.uuid4()), "client_id": str(uuid.uuid4())}
        events: list[dict[str, Any]] = []
        headers = {"Origin": f"https://{HOST}"}
        with connect(
            f"wss://{HOST}/ws/chat", sock=self._way(), ssl=self.context, additional_headers=headers, proxy=None
        ) as tab:
            tab.send(json.dumps(frame))
            while not events or events[-1]["type"] not in {"message_end", "error"}:
                events.append(json.loads(tab.recv(timeout=120)))
        return events

    def _way(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


def faults(site: Site) -> list[dict[str, str]]:
    findings = json.loads(site.run("web", "manage", "doctor", "--json", check=False))["findings"]
    return [each for each in findings if each["level"] == "fail"]


def answer(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "message_delta")


def test_the_whole_site_runs_in_containers(site: Site) -> None:
    begun = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {what}")

    site.networks()
    site.up(["postgres"])
    database = site.containers("postgres")[0]
    site.wait_until_healthy(database, site.services["postgres"])
    say("PostgreSQL on an empty volume")
    psql = ("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--username", "marcelcms", "marcelcms")
    dump = gzip.decompress((DUMPS / "0.1.0.sql.gz").read_bytes())
    subprocess.run(
        [*PODMAN, "exec", "--interactive", database, *psql], input=dump, check=True, stdout=subprocess.DEVNULL
    )
    say("the tables and rows of 0.1.0 are there")
    names = [name for name, service in site.services.items() if not service.get("profiles")]
    site.up(names)
    for name in names:
        for container in site.containers(name) if name not in {"migrate", "beat"} else ():
            site.wait_until_healthy(container, site.services[name])
    say(f"all {len(site.begun)} containers are up and well; tables are those of today")

    visitor = Visitor(site)
    deadline = time.monotonic() + 600
    while ANSWER not in answer(events := visitor.ask(QUESTION)):
        assert time.monotonic() < deadline, events
        time.sleep(5)
    assert [event for event in events if event["type"] == "citation"]
    say("a student's question of the pages of 0.1.0 is answered over TLS, nginx and a socket, with its source")
    for _ in range(6):
        assert ANSWER in answer(visitor.ask(QUESTION))
    served = set(re.findall(r" (\S+:8000) (?:101|200) ", podman("logs", site.containers("nginx")[0])))
    assert len(served) == 2, served
    say("both web processes have answered")

    for container in site.begun:
        if "-migrate-" in container:
            continue
        status = podman("exec", container, "cat", "/proc/1/status")
        assert "CapEff:\t0000000000000000" in status, container
        assert "Uid:\t0\t" not in status, container
        assert subprocess.run(
            [*PODMAN, "exec", container, "touch", "/new"], capture_output=True, check=False
        ).returncode
    say("each runs without root and without capabilities, and cannot write to its root")
    for name in ("postgres", "pgbouncer", "valkey", "worker-reports", "beat"):
        routes = podman("exec", site.containers(name)[0], "cat", "/proc/net/route").splitlines()[1:]
        assert not [route for route in routes if route.split()[1] == "00000000"], name
    say("the database, the broker and what needs no way out have none")
    secrets = [(site.folder / "secrets" / name).read_text().strip() for name in ("secret_key", "database_password")]
    assert not [container for container in site.begun if any(each in podman("inspect", container) for each in secrets)]
    say("no secret stands in what Podman knows of a container")
    # The vectors of 0.1.0 are made anew by the workers.
    deadline = time.monotonic() + 600
    while failed := faults(site):
        assert time.monotonic() < deadline, failed
        time.sleep(5)
    say("the doctor finds no fault")

    print(site.run("backup", "manage", "backup", "/backups"))
    (file,) = (site.folder / "backups").glob("*.tar")
    podman("exec", database, *psql[:-1], "--command", "TRUNCATE knowledge_document CASCADE", "marcelcms")
    stopped = [name for name in names if name not in {"postgres", "valkey", "migrate"}]
    podman("stop", "--time", "40", *(container for name in stopped for container in site.containers(name)))
    print(site.run("backup", "manage", "restore", f"/backups/{file.name}", "--replace"))
    print(site.run("backup", "manage", "verify_index"))
    podman("start", *(container for name in stopped for container in site.containers(name)))
    for name in ("web", "nginx"):
        for container in site.containers(name):
            site.wait_until_healthy(container, site.services[name])
    assert ANSWER in answer(visitor.ask(QUESTION))
    say("a backup was made, all pages deleted, and the same answer is there after the restore")
