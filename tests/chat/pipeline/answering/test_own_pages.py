"""Through the chat: a text that staff wrote without an address is quoted and cited with its public page here."""

import pytest
from django.test import Client

from knowledge.indexing.documents import sync_pending
from tests.factories import DocumentFactory
from tests.servers import Server

pytestmark = pytest.mark.usefixtures("pages")


def test_an_answer_cites_and_links_the_page_here(server: Server, client: Client) -> None:
    text = "# Lockers in the library\n\nA locker in the library costs 20 euros each semester."
    document = DocumentFactory(url="", title="Lockers in the library", text=text)
    sync_pending()
    with server.connect() as tab:
        answer = tab.answer("How much does a locker in the library cost?")
    assert "20 euros" in answer.text
    url = answer.cited[0]["url"].partition("#")[0]
    assert url == document.url
    assert "20 euros" in client.get(url.removeprefix("http://localhost:8000")).content.decode()
