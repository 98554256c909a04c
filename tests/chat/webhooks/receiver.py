"""A receiver of webhooks: a real HTTPS server in this process, which replies as a test wants."""

import datetime
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers import wait_until

HOST = "hooks.uni.example"


@dataclass(frozen=True)
class Got:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`reply` writes to the handler; by default it accepts everything."""

    url: str
    port: int
    got: list[Got] = field(default_factory=list)
    reply: Callable[[Any], None] = lambda handler: status(204)(handler)


def status(code: int, **headers: str) -> Callable[[Any], None]:
    """Reply with this status; `Location="..."` is a header."""

    def reply(handler: Any) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


def one_after_another(*replies: Callable[[Any], None]) -> Callable[[Any], None]:
    left = iter(replies)
    return lambda handler: next(left)(handler)


def drip(seconds: float) -> Callable[[Any], None]:
    """Reply for that long, a byte at a time, so that no single read times out."""

    def reply(handler: Any) -> None:
        until = time.monotonic() + seconds
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10_000:
            if time.monotonic() > until:
                break
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)

    return reply


def certify(folder: Path) -> Path:
    """Write a certificate for HOST and this machine, with its key, that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName(HOST), x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "receiver.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def receiving(certificate: Path, *, address: str = "127.0.0.1", port: int = 0) -> Iterator[Receiver]:
    """Receive at that address until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(self.path, headers, body))
            receiver.reply(self)
            self.close_connection = True

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing: some clients hang up, as a test wants."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Server((address, port), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    bound = server.server_address[1]
    receiver = Receiver(f"https://{address}:{bound}/hooks/marcel", bound)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    wait_until(thread.is_alive)
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
