"""Beside a reply stand pages and FAQs that may answer the case, marked as found and not checked."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from lxml import html

from core.inference.embeddings import EmbeddingUnavailable
from faqs.answers.pages import index_pages, sync_pages
from faqs.indexing import sync_faq
from faqs.models import FAQ
from faqs.services import set_faq_status
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import QUESTION, new_case
from tests.conftest import load_pages
from tests.factories import CollectionFactory, FAQFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_is_queued")]
PAGE = {
    "url": "https://www.uni.example/library/dogs",
    "title": "Dogs in the library",
    "text": "# Dogs\n\nNo dog may be brought to the library. Guide dogs are allowed.",
}


@pytest.fixture
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)


def new_faq(question: str = QUESTION, **values: Any) -> FAQ:
    made: FAQ = FAQFactory(question=question, status="published", **values)
    sync_pages([made.pk])
    index_pages()
    sync_faq(made.pk)
    return made


def page_of(client: Client, **values: Any) -> html.HtmlElement:
    shown = client.get(reverse("admin:chat_case_change", args=[new_case(**values).pk]))
    assert shown.status_code == 200
    return html.fromstring(shown.content.decode())


def suggested(client: Client, **values: Any) -> list[tuple[str, str, dict[str, str]]]:
    """Return the tag of each suggestion, its words, and what its buttons insert."""
    found = []
    for item in page_of(client, **values).xpath("//ul[@class = 'case__suggestions']/li"):
        buttons = {" ".join(each.text_content().split()): each.get("data-insert") for each in item.xpath(".//button")}
        words = " ".join(item.text_content().split())
        found.append((item.xpath("string(./span[@class = 'tag'])"), words, buttons))
    return found


def test_a_page_is_quoted_with_its_source_and_says_that_nobody_checked_it(office: Client) -> None:
    load_pages([PAGE])
    (tag, words, buttons), *_others = suggested(office)
    assert tag == "Page"
    assert "Dogs in the library" in words
    assert "No dog may be brought to the library." in words
    quote = buttons["Quote"]
    assert quote.startswith("> ")
    assert quote.endswith("> [Dogs in the library](https://www.uni.example/library/dogs)\n")
    note = page_of(office).xpath("string(//section[@aria-labelledby = 'suggested-title']/p)")
    assert note == "Found by the search, not checked: read them before you send them."


def test_a_written_answer_is_inserted_as_staff_wrote_it_and_stands_before_pages(office: Client) -> None:
    load_pages([PAGE])
    new_faq("May I bring my dog into the library?", answer_en="Only **guide** dogs.")
    (tag, words, buttons), *others = suggested(office)
    assert (tag, buttons) == ("FAQ", {"Insert": "Only **guide** dogs."})
    assert "May I bring my dog into the library?" in words
    assert {each[0] for each in others} == {"Page"}


def test_an_answer_in_the_student_s_language_alone_is_inserted(office: Client) -> None:
    new_faq(answer_de="Nur Blindenhunde.")
    assert suggested(office)[0][2] == {}
    assert suggested(office, language="de")[0][2] == {"Insert": "Nur Blindenhunde."}


def test_what_asks_something_else_or_is_no_longer_published_is_not_suggested(office: Client) -> None:
    new_faq("When does the semester begin?", answer_en="In October.")
    set_faq_status(faqs=[new_faq(answer_en="Yes.")], status="retired")
    assert suggested(office) == []


def test_an_faq_that_the_member_may_not_see_is_not_suggested(client: Client) -> None:
    ours, theirs = (Group.objects.create(name=name) for name in ("Library", "Housing"))
    case_of = new_case()
    case_of.assistant.teams.add(ours)
    for team, answer in ((ours, "Ours."), (theirs, "Theirs.")):
        collection = CollectionFactory()
        collection.teams.add(team)
        new_faq(answer_en=answer, collection=collection)
    client.force_login(UserFactory(permissions=["chat.view_case", "chat.change_case"], teams=[ours]))
    shown = client.get(reverse("admin:chat_case_change", args=[case_of.pk])).content.decode()
    assert "Ours." in shown
    assert "Theirs." not in shown


def test_an_faq_is_a_link_for_those_alone_who_may_open_it(client: Client) -> None:
    faq = new_faq(answer_en="No.")
    for name, more, links in (("carla", [], False), ("dora", ["faqs.view_faq"], True)):
        client.force_login(desk(name, permissions=[*ANSWERS, *more]))
        hrefs = page_of(client).xpath("//ul[@class = 'case__suggestions']//a/@href")
        assert any(href.startswith(reverse("admin:faqs_faq_change", args=[faq.pk])) for href in hrefs) is links


def test_who_may_only_read_cases_gets_no_suggestions(client: Client) -> None:
    new_faq(answer_en="No.")
    client.force_login(desk("carla", permissions=["chat.view_case", "knowledge.whole_university"]))
    assert suggested(client) == []


def test_markup_of_pages_and_answers_stays_text(office: Client) -> None:
    nasty = "<script>alert('dog library')</script>"
    load_pages([{**PAGE, "title": nasty, "text": f"{PAGE['text']} {nasty}"}])
    new_faq(answer_en=f"{nasty} \"' onclick=x")
    shown = page_of(office)
    assert not shown.xpath("//script[contains(., 'dog library')] | //*[@onclick]")
    assert any(value.startswith(nasty) for value in shown.xpath("//@data-insert"))


def test_while_the_embedding_model_is_away_the_reply_can_be_written_and_the_page_says_why(
    office: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise EmbeddingUnavailable("The embedding server does not answer.")

    monkeypatch.setattr("analytics.cases.suggestions.retrieve_with", fail)
    shown = page_of(office)
    assert shown.xpath("string(//p[@class = 'errornote'])") == "The embedding server does not answer."
    assert shown.xpath("//textarea[@id = 'id_reply']")
    assert not shown.xpath("//*[@data-insert]")
