"""The certificate of the language model's server expires while students ask, and is renewed."""

import datetime
import os
import signal
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.fakes.llm import FakeLLM
from tests.faults.cluster import FACT, Cluster, cluster
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
DAY = datetime.timedelta(days=1)
#: Prints what the doctor finds of the language model.
EXAMINE = """
from marcelcms.doctor.report import examine
print(*examine(["language model"]))
"""


class Certificate:
    """A certificate for localhost with its key in one file, and that of the authority who signs it."""

    def __init__(self, folder: Path) -> None:
        self.file, self.authority = folder / "certificate.pem", folder / "authority.pem"
        self._key, self._authority = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        self.authority.write_bytes(self._made("Authority", self._authority, 90 * DAY, is_authority=True))
        self.renew(until=30 * DAY)

    def renew(self, *, until: datetime.timedelta) -> None:
        """Make it hold until so long from now."""
        key = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self.file.write_bytes(self._made("localhost", self._key, until, is_authority=False) + key)

    def _made(
        self, name: str, key: ec.EllipticCurvePrivateKey, until: datetime.timedelta, *, is_authority: bool
    ) -> bytes:
        now = datetime.datetime.now(datetime.UTC)
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._authority.public_key())
        made = (
            x509.CertificateBuilder()
            .subject_name(_called(name))
            .issuer_name(_called("Authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 60 * DAY)
            .not_valid_after(now + until)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name.lower())]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier(identifier.digest, None, None), critical=False)
        )
        if is_authority:
            made = made.add_extension(identifier, critical=False)
        return made.sign(self._authority, hashes.SHA256()).public_bytes(Encoding.PEM)


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


class SecureLLM(FakeLLM):
    """Speaks TLS with a certificate that it reads again when told."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__()
        self._certificate, self._context = certificate, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.take_up()
        self._server.socket = self._context.wrap_socket(self._server.socket, server_side=True)

    def take_up(self) -> None:
        self._context.load_cert_chain(self._certificate.file)

    def reset(self) -> None:
        super().reset()
        self.base_url = self.base_url.replace("http://127.0.0.1", "https://localhost")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[tuple[Cluster, Certificate, SecureLLM]]:
    certificate = Certificate(tmp_path)
    llm = SecureLLM(certificate)
    with cluster(llm=llm, SSL_CERT_FILE=str(certificate.authority)) as started:
        yield started, certificate, llm


def strategies(stack: Cluster, conversations: list[str]) -> set[str]:
    (found,) = stack.row(
        "SELECT array_agg(DISTINCT strategy) FROM chat_message WHERE role = 'assistant' "
        "AND conversation_id = ANY(%s::uuid[])",
        conversations,
    )
    return set(found or ())


def test_a_certificate_that_expires_costs_no_answer_and_the_doctor_names_it(
    stack: tuple[Cluster, Certificate, SecureLLM],
) -> None:
    here, certificate, llm = stack

    def asked_since(moment: float) -> list[str]:
        return [one.conversation for one in going.answered if one.asked > moment]

    with here.busy() as going:
        assert "generated" in strategies(here, asked_since(0))
        certificate.renew(until=-DAY)
        llm.take_up()
        # A connection that is open outlives its certificate: the web process makes new ones.
        os.kill(here.run.web(), signal.SIGKILL)
        began = time.monotonic()
        going.goes_on(after=began)
        gone = time.monotonic()
        wait_until(lambda: "extractive" in strategies(here, asked_since(gone)), 120)
        assert "generated" not in strategies(here, asked_since(gone))
        assert "certificate has expired" in here.run.does(EXAMINE)
        certificate.renew(until=30 * DAY)
        llm.take_up()
        llm.says(FACT)
        began = time.monotonic()
        wait_until(lambda: "generated" in strategies(here, asked_since(began)), 120)
    print(f"\ncertificate renewed: the model writes again after {time.monotonic() - began:.1f} s")
