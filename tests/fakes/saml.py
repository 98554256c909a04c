"""A real SAML identity provider for the tests: pysaml2's, in this process, with xmlsec's wheel, not its program."""

import base64
import datetime
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from html import escape, unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from re import findall
from threading import Thread
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from lxml import etree
from saml2 import BINDING_HTTP_REDIRECT, sigver
from saml2.config import IdPConfig
from saml2.saml import NAMEID_FORMAT_TRANSIENT, NameID
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

with warnings.catch_warnings():
    # It names a cipher at the place where that used to be.
    warnings.simplefilter("ignore")
    from saml2.server import Server

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
ENTITLEMENT, SUBJECT_ID = "urn:oid:1.3.6.1.4.1.5923.1.1.1.7", "urn:oasis:names:tc:SAML:attribute:subject-id"
MAIL, GIVEN_NAME, SURNAME = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4"


@cache
def key_pair(name: str) -> tuple[str, str]:
    """Return a private key and its certificate of this name, as PEM; made once."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(called)
        .issuer_name(called)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private.decode(), certificate.public_bytes(Encoding.PEM).decode()


def sign(document: bytes, node_id: str, key: str) -> str:
    """Fill the signature template of the node of this ID, as the program xmlsec1 does."""
    root = etree.fromstring(document)
    xmlsec.tree.add_ids(root, ["ID"])
    (node,) = root.xpath("//*[@ID=$id]", id=node_id)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key, xmlsec.KeyFormat.PEM)
    context.sign(xmlsec.tree.find_child(node, xmlsec.Node.SIGNATURE))
    return etree.tostring(root, encoding="unicode")


def _bytes(statement: Any) -> bytes:
    """Return what pysaml2 hands over: bytes, text, or an element of its own."""
    return statement if isinstance(statement, bytes) else str(statement).encode()


class Wheel(sigver.CryptoBackend):
    """Does for pysaml2 what it calls the program xmlsec1 for."""

    version = "1.3"

    def sign_statement(self, statement: Any, node_name: str, key_file: str, node_id: str) -> str:
        return sign(_bytes(statement), node_id, Path(key_file).read_text())


def encrypt(document: str, certificate: str) -> str:
    """Return a response whose assertion only the holder of the certificate's key can read."""
    root = etree.fromstring(document.encode())
    assertion = root.find(f"{{{SAML}}}Assertion")
    wrapped = etree.SubElement(root, f"{{{SAML}}}EncryptedAssertion")
    wrapped.append(assertion)
    data = xmlsec.template.encrypted_data_create(
        root, xmlsec.Transform.AES256, type=xmlsec.EncryptionType.ELEMENT, ns="xenc"
    )
    xmlsec.template.encrypted_data_ensure_cipher_value(data)
    carried = xmlsec.template.add_encrypted_key(
        xmlsec.template.encrypted_data_ensure_key_info(data, ns="ds"), xmlsec.Transform.RSA_OAEP
    )
    xmlsec.template.encrypted_data_ensure_cipher_value(carried)
    manager = xmlsec.KeysManager()
    manager.add_key(xmlsec.Key.from_memory(certificate, xmlsec.KeyFormat.CERT_PEM))
    context = xmlsec.EncryptionContext(manager)
    context.key = xmlsec.Key.generate(xmlsec.KeyData.AES, 256, xmlsec.KeyDataType.SESSION)
    context.encrypt_xml(data, assertion)
    return str(etree.tostring(root, encoding="unicode"))


class IdentityProvider:
    """Who logs in, and how it answers; the tests change it."""

    def __init__(self, origin: str, folder: Path) -> None:
        self.origin, self.entity_id, self.folder = origin, f"{origin}/idp", folder
        self.key, self.certificate = key_pair("identity provider")
        for name, text in (("key.pem", self.key), ("certificate.pem", self.certificate)):
            (folder / name).write_text(text)
        self.attributes: dict[str, list[str]] = {}
        self.is_refused = False
        self.name_format = NAMEID_FORMAT_TRANSIENT
        self.logged_out: list[str] = []
        self._server: Server | None = None

    def metadata(self) -> str:
        certificate = "".join(self.certificate.splitlines()[1:-1])
        services = "".join(
            f'<md:{name} Binding="{BINDING_HTTP_REDIRECT}" Location="{self.origin}/{path}"/>'
            for name, path in (("SingleLogoutService", "slo"), ("SingleSignOnService", "sso"))
        )
        return (
            f'<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{self.entity_id}">'
            '<md:IDPSSODescriptor WantAuthnRequestsSigned="true" '
            'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing">'
            '<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>'
            f"{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>{services}"
            "</md:IDPSSODescriptor></md:EntityDescriptor>"
        )

    def meet(self, product_metadata: str) -> None:
        """Take the product's metadata, as who runs a provider does."""
        (self.folder / "product.xml").write_text(product_metadata)
        told = {
            "entityid": self.entity_id,
            "key_file": str(self.folder / "key.pem"),
            "cert_file": str(self.folder / "certificate.pem"),
            "xmlsec_binary": sys.executable,  # never called
            "signing_algorithm": SIG_RSA_SHA256,
            "digest_algorithm": DIGEST_SHA256,
            "metadata": {"local": [str(self.folder / "product.xml")]},
            "service": {
                "idp": {
                    "endpoints": {
                        "single_sign_on_service": [(f"{self.origin}/sso", BINDING_HTTP_REDIRECT)],
                        "single_logout_service": [(f"{self.origin}/slo", BINDING_HTTP_REDIRECT)],
                    },
                    "want_authn_requests_signed": True,
                    "sign_assertion": True,
                    "sign_response": True,
                    "policy": {
                        "default": {
                            "lifetime": {"minutes": 5},
                            "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:uri",
                        }
                    },
                }
            },
        }
        with mock.patch.object(sigver, "_get_xmlsec_cryptobackend", return_value=Wheel()):
            self._server = Server(config=IdPConfig().load(told))

    def answer(self, query: Mapping[str, str], **changed: Any) -> str:
        """Return the response to a login request, whose signature is checked, as XML."""
        assert self._server
        asked = self._server.parse_authn_request(
            query["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            relay_state=query["RelayState"],
            sigalg=query["SigAlg"],
            signature=query["Signature"],
        )
        place = self._server.response_args(asked.message)
        if self.is_refused:
            error = sigver.SigverError("cancelled")
            return str(self._server.create_error_response(place["in_response_to"], place["destination"], error))
        told = {
            "identity": self.attributes,
            "userid": "bo",
            "name_id": NameID(format=self.name_format, text="a-name-of-bo"),
            "authn": {"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified", "authn_auth": self.entity_id},
            "sign_alg": SIG_RSA_SHA256,
            "digest_alg": DIGEST_SHA256,
            "sign_assertion": True,
            "sign_response": False,
            **{name: place[name] for name in ("in_response_to", "destination", "sp_entity_id")},
        }
        return str(self._server.create_authn_response(**(told | changed)))

    def log_out(self, query: Mapping[str, str]) -> str:
        """Return where the browser goes after the provider's session is ended."""
        assert self._server
        asked = self._server.parse_logout_request(
            query["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            relay_state=query["RelayState"],
            sigalg=query["SigAlg"],
            signature=query["Signature"],
        )
        self.logged_out.append(asked.message.name_id.text)
        said = self._server.create_logout_response(asked.message, [BINDING_HTTP_REDIRECT], sign=False)
        made = self._server.apply_binding(
            BINDING_HTTP_REDIRECT,
            str(said),
            said.destination,
            query["RelayState"],
            response=True,
            sign=True,
            sigalg=SIG_RSA_SHA256,
        )
        return str(dict(made["headers"])["Location"])

    def logout_request(self, name: str, product: str, destination: str) -> str:
        """Return an address at the product by which the provider ends somebody's session there."""
        assert self._server
        _id, asked = self._server.create_logout_request(
            destination, product, name_id=NameID(format=self.name_format, text=name), sign=False
        )
        made = self._server.apply_binding(
            BINDING_HTTP_REDIRECT, str(asked), destination, "there", sign=True, sigalg=SIG_RSA_SHA256
        )
        return str(dict(made["headers"])["Location"])


def form_of(page: str) -> tuple[str, dict[str, str]]:
    """Return where the form of a page is sent, and what is in it."""
    (action,) = findall(r'action="([^"]+)"', page)
    return unescape(action), {name: unescape(value) for name, value in findall(r'name="([^"]+)" value="([^"]*)"', page)}


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


@contextmanager
def running_identity_provider(host: str = "127.0.0.1") -> Iterator[IdentityProvider]:
    """Run it for browsers; its page sends the answer by a form, as every provider's does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = query_of(self.path)
            if self.path.startswith("/slo"):
                self.send_response(302)
                self.send_header("Location", provider.log_out(query))
                self.end_headers()
                return
            answer = base64.b64encode(provider.answer(query).encode()).decode()
            destination = etree.fromstring(base64.b64decode(answer)).get("Destination")
            page = (
                f'<form method="post" action="{escape(destination)}">'
                f'<input type="hidden" name="SAMLResponse" value="{answer}">'
                f'<input type="hidden" name="RelayState" value="{escape(query["RelayState"])}"><button>Go on</button>'
                "</form><script>document.forms[0].submit()</script>"
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, tempfile.TemporaryDirectory() as folder:
        provider = IdentityProvider(f"http://{host}:{server.server_port}", Path(folder))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
