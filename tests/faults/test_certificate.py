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


class Certificate:
    """A certificate for localhost, with its key in one file, that its holder signs himself."""

    def __init__(self, folder: Path) -> None:
        self.file, self._key = folder / "certificate.pem", ec.generate_private_key(ec.SECP256R1())
        self.renew(until=30 * DAY)

    def renew(self, *, until: datetime.timedelta) -> None:
        """Make it hold until so long from now."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(1)
            .not_valid_before(now - 60 * DAY)
            .not_valid_after(now + until)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        key = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self.file.write_bytes(made.public_bytes(Encoding.PEM) + key)


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
    # A system keeps who it trusts apart from what a server shows.
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(certificate.file.read_bytes())
    with cluster(llm=llm, SSL_CERT_FILE=str(trusted)) as started:
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
        with pytest.raises(AssertionError):  # it found a fault
            here.run.manage("doctor", "--alert", "MarcelModelFailing")
        certificate.renew(until=30 * DAY)
        llm.take_up()
        llm.says(FACT)
        began = time.monotonic()
        wait_until(lambda: "generated" in strategies(here, asked_since(began)), 120)
    print(f"\ncertificate renewed: the model writes again after {time.monotonic() - began:.1f} s")
