"""What every test may use. Tests talk to nobody but this machine."""

import ipaddress
import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.test import Client, TransactionTestCase
from django.utils import translation
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker, Settings

from tests.emptying import empty
from tests.factories import UserFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server, server_in_thread, wait_until

# A machine that is busy for a moment is no failure.
hypothesis_settings.register_profile("patient", deadline=None)
hypothesis_settings.load_profile("patient")

PAGES = [
    {
        "url": "https://www.uni.example/fees",
        "title": "Fees",
        "text": "# Semester contribution\n\nThe semester contribution is 318.40 euros each semester. "
        "It covers the semester ticket and student services.\n\n"
        "# Refunds\n\nA refund of the semester ticket is requested at the students' union by 30 April.",
    },
    {
        "url": "https://www.uni.example/library",
        "title": "Library",
        "text": "# Opening hours\n\nThe university library is open from 8 am to midnight on weekdays.\n\n"
        "# Lending\n\nBooks are lent for four weeks. A loan is renewed online in the library account.",
    },
    {
        "url": "https://www.uni.example/housing",
        "title": "Housing",
        "text": "# Dormitories\n\nApply for a room in a dormitory with the housing office. "
        "A single room costs 290 euros a month.",
    },
]
#: The ports that `make run` chooses from.
MAKE_RUN = range(8000, 8100)
QUICK_HASHER = "django.contrib.auth.hashers.MD5PasswordHasher"
#: Asks for what stands in PAGES.
QUESTION = "How much is the semester contribution?"


@pytest.fixture(scope="session", autouse=True)
def only_this_machine() -> Iterator[None]:
    """Let no socket out: neither a test nor what it tests may need the internet, or meet what `make run` serves."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and address[0] != "localhost":
            assert ipaddress.ip_address(address[0]).is_loopback, f"a test wants to talk to {address}"
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            assert address[1] not in MAKE_RUN, f"a test wants to talk to what `make run` may have started: {address}"
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def _static_root() -> None:
    """WhiteNoise warns where there is none, and would go through all files for each client of a test."""
    django_settings.STATIC_ROOT.mkdir(exist_ok=True)
    django_settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def _quick_passwords() -> None:
    """Argon2 takes a sixth of a second for each account, on purpose."""
    django_settings.PASSWORD_HASHERS = [QUICK_HASHER, *django_settings.PASSWORD_HASHERS]


@pytest.fixture(scope="session", autouse=True)
def _emptied_fast() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: empty(connections["default"]))
        yield


@pytest.fixture(autouse=True)
def _empty_lexical_index() -> None:
    """Forget the live index: this process's index outlives the rows that a test leaves behind."""
    from faqs.matching.serving import served_fits
    from knowledge.retrieval.live_index import forget_indexes
    from knowledge.retrieval.query_vectors import forget_vectors

    forget_indexes()
    forget_vectors()
    served_fits.clear()


@pytest.fixture(autouse=True)
def _default_language() -> None:
    """Reset the language: a request's outlives it in a test's thread."""
    translation.deactivate()


@pytest.fixture
def word_reranker(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Provide a cross-encoder for profiles that rerank, which counts shared words."""
    from tests.knowledge.rerankers import overlap_reranker

    settings.RERANKER_MODEL = str(overlap_reranker(tmp_path_factory.getbasetemp() / "overlap"))


@pytest.fixture(scope="session")
def _fake_llm() -> Iterator[FakeLLM]:
    from openai import AsyncOpenAI

    _ = AsyncOpenAI(api_key="x").chat.completions  # loads its modules, which takes a second the first time
    llm = FakeLLM()
    yield llm
    llm.close()


@pytest.fixture
def llm(_fake_llm: FakeLLM, settings: Settings) -> Iterator[FakeLLM]:
    """Provide a model's endpoint, configured."""
    _fake_llm.reset()
    settings.LLM_BASE_URL, settings.LLM_MODEL = _fake_llm.base_url, "fake"
    settings.LLM_FIRST_TOKEN_SECONDS = 10
    yield _fake_llm
    _fake_llm.release()


@pytest.fixture(scope="session")
def _served(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    """One server for all tests: its loop's connections need no opening and closing for each."""
    # A connection that a server's thread kept would outlive the test database.
    connections["default"].settings_dict["CONN_MAX_AGE"] = 0
    with django_db_blocker.unblock(), server_in_thread() as server:
        yield server


@pytest.fixture
def server(transactional_db: None, _served: Server, caplog: pytest.LogCaptureFixture) -> Iterator[Server]:
    """Provide the real application over HTTP and websockets, on the test's database and settings.

    Nothing may break in it unnoticed: what others than our own modules log as an error fails the test.
    """
    from chat.streaming import runner

    yield _served
    wait_until(lambda: not runner._running)
    errors = [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    foreign = [record.getMessage() for record in errors if not record.name.startswith(("chat.", "knowledge.", "faqs."))]
    assert not foreign, foreign


@pytest.fixture
def pages(db: None) -> None:
    """PAGES, indexed, in the collection `site`."""
    load_pages(PAGES)


def load_pages(pages: list[dict[str, Any]], *, collection: str = "site") -> None:
    from knowledge.indexing.documents import sync_pending
    from knowledge.ingest.importer import collection_for, document_record, import_records

    import_records(enumerate(map(document_record, pages), start=1), collection=collection_for(collection))
    sync_pending()


@pytest.fixture
def colleague(admin_user: Any) -> Client:
    """Somebody else of the staff, beside `admin_client`."""
    client = Client()
    client.force_login(UserFactory(username="colleague", is_superuser=True))
    return client
