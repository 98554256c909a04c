"""What somebody may try with answers of a SAML provider; none of it logs anybody in."""

import base64
import re
import zlib
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import xmlsec
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from marcelcms.accounts.sign_on.entry import PENDING
from marcelcms.models import DirectoryIdentity
from tests.fakes.saml import SAML, SUBJECT_ID, IdentityProvider, encrypt, key_pair, query_of
from tests.marcelcms.accounts.sign_on.saml.conftest import Attempt

pytestmark = pytest.mark.django_db
SAMLP, DS = "urn:oasis:names:tc:SAML:2.0:protocol", "http://www.w3.org/2000/09/xmldsig#"
ACS, METADATA, LOGOUT = (f"http://testserver/sign-on/saml/{page}" for page in ("", "metadata/", "logout/"))
Root = Any


def assert_refused(attempt: Attempt, answer: Any) -> None:
    assert answer.status_code == 400, answer
    assert not attempt.is_in()
    assert not DirectoryIdentity.objects.exists()


def changed(document: str, change: Callable[[Root], object]) -> bytes:
    """Return the document after a change, with the signature that it had."""
    root = etree.fromstring(document.encode())
    change(root)
    return bytes(etree.tostring(root))


def signed_anew(
    document: str,
    change: Callable[[Root], object] = lambda _root: None,
    *,
    key: str = "identity provider",
    method: Any = xmlsec.Transform.RSA_SHA256,
    digest: Any = xmlsec.Transform.SHA256,
    transforms: tuple[Any, ...] = (xmlsec.Transform.ENVELOPED, xmlsec.Transform.EXCL_C14N),
) -> bytes:
    """Return the document after a change, whose assertion is signed as the provider would, or with another key."""
    root = etree.fromstring(document.encode())
    assertion = root.find(f"{{{SAML}}}Assertion")
    assertion.remove(assertion.find(f"{{{DS}}}Signature"))
    change(root)
    template = xmlsec.template.create(root, xmlsec.Transform.EXCL_C14N, method, ns="ds")
    assertion.insert(1, template)
    reference = xmlsec.template.add_reference(template, digest, uri=f"#{assertion.get('ID')}")
    for transform in transforms:
        xmlsec.template.add_transform(reference, transform)
    xmlsec.template.add_x509_data(xmlsec.template.ensure_key_info(template))
    xmlsec.tree.add_ids(root, ["ID"])
    private, certificate = key_pair(key)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(private, xmlsec.KeyFormat.PEM)
    context.key.load_cert_from_memory(certificate, xmlsec.KeyFormat.PEM)
    context.sign(template)
    return bytes(etree.tostring(root))


def first(root: Root, name: str) -> Any:
    return next(root.iter(f"{{{SAML}}}{name}"))


def later(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_an_honest_answer_that_is_signed_by_these_tests_logs_in(attempt: Attempt) -> None:
    """Else the refusals below would prove nothing."""
    assert attempt.come_back(signed_anew(attempt.answer())).status_code == 302
    assert attempt.is_in()


# --- signatures ---


def without_signature(root: Root) -> None:
    signature = next(root.iter(f"{{{DS}}}Signature"))
    signature.getparent().remove(signature)


def test_an_answer_without_a_signature(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(changed(attempt.answer(), without_signature)))


def test_an_answer_whose_message_alone_is_signed(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.answer(sign_response=True, sign_assertion=False)))


def test_an_encrypted_assertion_without_a_signature(attempt: Attempt) -> None:
    bare = changed(attempt.answer(), without_signature).decode()
    assert_refused(attempt, attempt.come_back(encrypt(bare, key_pair("product")[1])))


def test_a_stranger_signs_and_brings_the_certificate_along(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), key="stranger")))


def test_sha_1_signs(attempt: Attempt) -> None:
    sent = signed_anew(attempt.answer(), method=xmlsec.Transform.RSA_SHA1)
    assert_refused(attempt, attempt.come_back(sent))


def test_sha_1_digests(attempt: Attempt) -> None:
    sent = signed_anew(attempt.answer(), digest=xmlsec.Transform.SHA1)
    assert_refused(attempt, attempt.come_back(sent))


def test_a_transform_that_may_leave_parts_out(attempt: Attempt) -> None:
    kinds = (xmlsec.Transform.ENVELOPED, xmlsec.Transform.C14N)
    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), transforms=kinds)))


def test_the_method_is_said_to_be_an_hmac(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        next(root.iter(f"{{{DS}}}SignatureMethod")).set("Algorithm", f"{DS}hmac-sha1")

    assert_refused(attempt, attempt.come_back(changed(attempt.answer(), change)))


@pytest.mark.parametrize("uri", ["", "#", "#another", "http://evil.example/assertion.xml", "file:///etc/passwd"])
def test_the_signature_is_of_something_else(attempt: Attempt, uri: str) -> None:
    def change(root: Root) -> None:
        next(root.iter(f"{{{DS}}}Reference")).set("URI", uri)

    assert_refused(attempt, attempt.come_back(changed(attempt.answer(), change)))


# --- what was signed is changed, or put beside something else ---


@pytest.mark.parametrize(("old", "new"), [("4711@uni", "4712@uni"), ("choir", "figures"), ("bo.berg@", "ada.berg@")])
def test_a_signed_word_is_changed(attempt: Attempt, old: str, new: str) -> None:
    document = attempt.answer()
    assert old in document
    assert_refused(attempt, attempt.come_back(document.replace(old, new)))


def forged(assertion: Any) -> Any:
    """Return a copy that speaks of somebody else, without a signature."""
    copy = deepcopy(assertion)
    copy.remove(copy.find(f"{{{DS}}}Signature"))
    copy.set("ID", "forged")
    for value in copy.iter(f"{{{SAML}}}AttributeValue"):
        value.text = (value.text or "").replace("4711", "1").replace("choir", "figures")
    return copy


def beside_before(root: Root) -> None:
    real = first(root, "Assertion")
    real.addprevious(forged(real))


def beside_after(root: Root) -> None:
    real = first(root, "Assertion")
    real.addnext(forged(real))


def real_inside_forged(root: Root) -> None:
    real = first(root, "Assertion")
    fake = forged(real)
    real.addprevious(fake)
    fake.append(real)


def forged_inside_real_object(root: Root) -> None:
    real = first(root, "Assertion")
    fake = forged(real)
    real.addprevious(fake)
    holder = etree.SubElement(next(real.iter(f"{{{DS}}}Signature")), f"{{{DS}}}Object")
    root.remove(fake)
    holder.append(fake)


def real_in_the_forgeds_signature(root: Root) -> None:
    real = first(root, "Assertion")
    fake = forged(real)
    fake.set("ID", real.get("ID"))
    real.addprevious(fake)
    signature = real.find(f"{{{DS}}}Signature")
    fake.insert(1, signature)
    etree.SubElement(signature, f"{{{DS}}}Object").append(real)


def real_in_the_extensions(root: Root) -> None:
    real = first(root, "Assertion")
    fake = forged(real)
    real.addprevious(fake)
    extensions = etree.Element(f"{{{SAMLP}}}Extensions")
    root.insert(1, extensions)
    extensions.append(real)


def same_id_twice(root: Root) -> None:
    real = first(root, "Assertion")
    fake = forged(real)
    fake.set("ID", real.get("ID"))
    real.addprevious(fake)


@pytest.mark.parametrize(
    "wrap",
    [
        beside_before,
        beside_after,
        real_inside_forged,
        forged_inside_real_object,
        real_in_the_forgeds_signature,
        real_in_the_extensions,
        same_id_twice,
    ],
)
def test_the_signature_is_wrapped(attempt: Attempt, wrap: Callable[[Root], None]) -> None:
    assert_refused(attempt, attempt.come_back(changed(attempt.answer(), wrap)))


def test_a_comment_cuts_no_identifier_short(attempt: Attempt, law: Group) -> None:
    """A comment does not break the signature (canonical XML leaves it out), and must not end the text before it."""
    document = attempt.answer().replace("4711@uni.example", "4711@uni.example<!-- -->.evil.example")
    assert attempt.come_back(signed_anew(document)).status_code == 302
    assert DirectoryIdentity.objects.get().subject == "4711@uni.example.evil.example"


# --- for whom, when, on what request ---


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("SubjectConfirmationData", "Recipient", "https://other.example/acs"),
        ("SubjectConfirmationData", "Recipient", f"https://evil.example/?{ACS}"),
        ("SubjectConfirmationData", "Recipient", None),
        ("SubjectConfirmationData", "InResponseTo", "another"),
        ("SubjectConfirmationData", "InResponseTo", None),
        ("SubjectConfirmationData", "NotOnOrAfter", -1),
        ("SubjectConfirmationData", "NotOnOrAfter", None),
        ("SubjectConfirmationData", "NotBefore", 60),
        ("SubjectConfirmation", "Method", "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"),
        ("Conditions", "NotOnOrAfter", -10),
        ("Conditions", "NotBefore", 60),
        ("Assertion", "IssueInstant", -60),
        ("Assertion", "IssueInstant", 60),
        ("AuthnStatement", "SessionNotOnOrAfter", -1),
    ],
)
def test_a_signed_assertion_for_another_place_time_or_request(
    attempt: Attempt, name: str, attribute: str, value: str | int | None
) -> None:
    def change(root: Root) -> None:
        node = first(root, name)
        if value is None:
            del node.attrib[attribute]
        else:
            # A number is minutes from now.
            node.set(attribute, later(value) if isinstance(value, int) else value)

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


def test_an_assertion_for_another_service(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        first(root, "Audience").text = "https://other.example/metadata"

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


def test_an_assertion_for_another_service_too(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        other = deepcopy(first(root, "Audience"))
        other.text = "https://other.example/metadata"
        first(root, "AudienceRestriction").append(other)

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


@pytest.mark.parametrize(
    "name", ["Conditions", "AudienceRestriction", "SubjectConfirmation", "AuthnStatement", "Issuer"]
)
def test_a_signed_assertion_that_lacks_a_part(attempt: Attempt, name: str) -> None:
    def change(root: Root) -> None:
        node = first(first(root, "Assertion"), name)
        node.getparent().remove(node)

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


def test_another_provider_of_the_federation(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        for issuer in root.iter(f"{{{SAML}}}Issuer"):
            issuer.text = "https://idp.other.example"

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


def test_a_message_that_is_sent_to_another_place(attempt: Attempt) -> None:
    sent = changed(attempt.answer(), lambda root: root.set("Destination", "https://other.example/acs"))
    assert_refused(attempt, attempt.come_back(sent))


def test_an_answer_is_taken_once(attempt: Attempt) -> None:
    document = attempt.answer()
    assert attempt.come_back(document).status_code == 302
    other = Client()
    assert attempt.come_back(document, other).status_code == 400
    assert other.get(reverse("admin:index")).status_code == 302


def test_another_browser_brings_a_stolen_answer(attempt: Attempt, directory: IdentityProvider) -> None:
    thief = Attempt(directory)
    assert_refused(thief, attempt.come_back(attempt.answer(), thief.client))


def test_an_answer_that_nobody_asked_for(attempt: Attempt, directory: IdentityProvider) -> None:
    """The attacker's own answer, put under a student's nose: nobody is logged in as the attacker."""
    victim = Client()
    assert attempt.come_back(attempt.answer(), victim).status_code == 400
    assert victim.get(reverse("admin:index")).status_code == 302


def test_a_signed_answer_without_a_request(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        del root.attrib["InResponseTo"]
        del first(root, "SubjectConfirmationData").attrib["InResponseTo"]

    assert_refused(attempt, attempt.come_back(signed_anew(attempt.answer(), change)))


def test_a_request_is_answered_once_and_for_ten_minutes(attempt: Attempt) -> None:
    session = attempt.client.session
    pending = session[PENDING]
    for noted in pending.values():
        noted["at"] -= 601
    session[PENDING] = pending
    session.save()
    assert_refused(attempt, attempt.come_back(attempt.answer()))


def test_the_second_page_takes_no_answer_that_was_not_checked(attempt: Attempt) -> None:
    for guessed in ("", "x", "../", "\x00"):
        assert attempt.client.get(reverse("sign-on-saml-finish"), {"answer": guessed}).status_code == 400


def test_the_second_page_is_used_once(attempt: Attempt) -> None:
    form = {"SAMLResponse": base64.b64encode(attempt.answer().encode()).decode()}
    place = Client().post(reverse("sign-on-saml"), form)["Location"]
    assert attempt.client.get(place).status_code == 302
    assert attempt.client.get(place).status_code == 400


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"]
)
def test_the_login_leads_to_no_other_site(directory: IdentityProvider, wanted: str) -> None:
    attempt = Attempt(directory, next=wanted)
    assert attempt.come_back(attempt.answer())["Location"] == reverse("admin:index")


# --- who the person is ---


@pytest.mark.parametrize("value", [[], [""], ["   "], ["x" * 256]])
def test_no_identifier_is_nobody(attempt: Attempt, directory: IdentityProvider, value: list[str]) -> None:
    directory.attributes[SUBJECT_ID] = value
    assert_refused(attempt, attempt.come_back(attempt.answer()))


def test_groups_beside_the_signed_assertion_are_not_read(attempt: Attempt) -> None:
    def change(root: Root) -> None:
        extensions = etree.Element(f"{{{SAMLP}}}Extensions")
        root.insert(1, extensions)
        extensions.append(deepcopy(first(root, "AttributeStatement")))
        for value in extensions.iter(f"{{{SAML}}}AttributeValue"):
            value.text = "figures"

    answer = attempt.come_back(changed(attempt.answer(), change))
    assert not Group.objects.filter(user__isnull=False, name="Analyst").exists()
    assert answer.status_code in {302, 400}


# --- documents that are none ---


@pytest.mark.parametrize(
    "document",
    [
        "",
        "no XML",
        "<a/>",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        f'<samlp:Response xmlns:samlp="{SAMLP}" Version="2.0" ID="a"/>',
        "<a>" * 100_000,
        "\x00",
    ],
)
def test_what_is_no_answer_is_refused(attempt: Attempt, document: str) -> None:
    assert_refused(attempt, attempt.come_back(document))


def test_an_answer_with_entities_is_refused_though_it_is_signed(attempt: Attempt) -> None:
    document = attempt.answer()
    body = re.sub(r"^<\?xml[^>]*\?>", "", document)
    sent = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>{body}'
    assert_refused(attempt, attempt.come_back(sent))


def test_what_is_no_base64_is_refused(directory: IdentityProvider) -> None:
    for sent in ("%%%", "a", "ä", "=" * 10, "A" * 600_000):
        assert Client().post(reverse("sign-on-saml"), {"SAMLResponse": sent}).status_code == 400


@pytest.mark.slow
def test_a_broken_answer_never_breaks_the_page(directory: IdentityProvider) -> None:
    attempt = Attempt(directory)
    document = attempt.answer().encode()

    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(0, len(document) - 1), st.integers(0, 40), st.binary(max_size=20))
    def check(place: int, length: int, instead: bytes) -> None:
        if document[place : place + length] == instead:
            return
        sent = base64.b64encode(document[:place] + instead + document[place + length :])
        answer = Client().post(reverse("sign-on-saml"), {"SAMLResponse": sent.decode()})
        assert answer.status_code in {303, 400}

    check()
    assert not DirectoryIdentity.objects.exists()


# --- logging out ---


@pytest.fixture
def bo(attempt: Attempt) -> Attempt:
    assert attempt.come_back(attempt.answer()).status_code == 302
    return attempt


def logout_url(bo: Attempt, name: str = "a-name-of-bo", destination: str = LOGOUT) -> str:
    made = bo.directory.logout_request(name, METADATA, destination)
    return made.replace(destination, LOGOUT, 1)


def test_an_unsigned_wish_to_log_somebody_out(bo: Attempt) -> None:
    query = query_of(logout_url(bo))
    for names in (["SAMLRequest"], ["SAMLRequest", "RelayState", "SigAlg"]):
        sent = urlencode({name: query[name] for name in names})
        assert bo.client.get(f"{LOGOUT}?{sent}").status_code == 400
    assert bo.is_in()


def test_a_wish_with_another_ones_signature_or_another_state(bo: Attempt) -> None:
    query = query_of(logout_url(bo))
    other = query_of(logout_url(bo, "another"))
    for changes in ({"SAMLRequest": other["SAMLRequest"]}, {"RelayState": "elsewhere"}, {"Signature": "AAAA"}):
        assert bo.client.get(f"{LOGOUT}?{urlencode(query | changes)}").status_code == 400
    assert bo.is_in()


def test_a_wish_with_a_parameter_twice(bo: Attempt) -> None:
    url = logout_url(bo)
    assert bo.client.get(f"{url}&SAMLRequest=x").status_code == 400
    assert bo.is_in()


def test_another_persons_session_stays(bo: Attempt) -> None:
    assert bo.client.get(logout_url(bo, "a-name-of-ada")).status_code == 400
    assert bo.is_in()


def test_a_wish_that_is_meant_for_another_service(bo: Attempt) -> None:
    assert bo.client.get(logout_url(bo, destination="https://other.example/slo")).status_code == 400
    assert bo.is_in()


def test_a_wish_that_would_fill_the_memory(bo: Attempt) -> None:
    packed = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    bomb = packed.compress(b"a" * 50_000_000) + packed.flush()
    query = query_of(logout_url(bo)) | {"SAMLRequest": base64.b64encode(bomb).decode()}
    assert bo.client.get(f"{LOGOUT}?{urlencode(query)}").status_code == 400
    assert bo.is_in()


def test_the_providers_answer_to_our_own_wish_leads_nowhere_else(bo: Attempt) -> None:
    answer = bo.client.get(f"{LOGOUT}?SAMLResponse=x&RelayState=https://evil.example/")
    assert answer["Location"] == reverse("admin:login")
    assert bo.is_in()
