"""Two with one FAQ's form open: two people, or one with two tabs."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from faqs.models import FAQ
from faqs.services import set_faq_status
from tests.factories import DocumentFactory, FAQFactory
from tests.faqs.forms import build_form
from tests.sent import as_sent, pressed_by_enter

pytestmark = pytest.mark.django_db


def change_page(faq: FAQ) -> str:
    return reverse("admin:faqs_faq_change", args=[faq.pk])


def sent(page: HttpResponse, **changes: Any) -> dict[str, Any]:
    return as_sent(page, "faq_form", **changes)


def now(faq: FAQ) -> FAQ:
    return FAQ.objects.get(pk=faq.pk)


def test_the_second_of_two_editors_sees_what_the_first_changed_and_loses_nothing(
    admin_client: Client, colleague: Client
) -> None:
    faq = FAQFactory(question="How much?", reference_answer="Four.", phrasings=["The price?"])
    mine, theirs = build_form(faq, question="How much is the fee?"), build_form(faq, reference_answer="Five.")
    assert colleague.post(change_page(faq), theirs).status_code == 302
    page = admin_client.post(change_page(faq), mine)
    text = page.content.decode()
    assert page.status_code == 200
    assert "Somebody else saved this meanwhile" in text
    assert "colleague changed this on" in text
    assert '<span class="diff__words">Five</span>' in text
    assert 'value="How much is the fee?"' in text
    assert (now(faq).question, now(faq).reference_answer) == ("How much?", "Five.")


def test_what_was_shown_is_saved_with_both_changes(admin_client: Client, colleague: Client) -> None:
    first, second = DocumentFactory(), DocumentFactory()
    faq = FAQFactory(
        question="Old?", phrasings=["kept", "taken by them", "taken by me"], documents=[first], language="en"
    )
    opened = admin_client.get(change_page(faq))
    theirs = build_form(faq, phrasings=["of theirs"], documents=[second], reference_answer="Theirs.")
    assert colleague.post(change_page(faq), theirs | {"phrasings-1-DELETE": "on"}).status_code == 302
    mine = {"question": "Mine?", "phrasings-3-text": "of mine", "phrasings-2-DELETE": "on"}
    page = admin_client.post(change_page(faq), sent(opened, **mine))
    assert page.context["conflict"]
    assert now(faq).question == "Old?"
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert (now(faq).question, now(faq).reference_answer) == ("Mine?", "Theirs.")
    assert set(faq.phrasings.values_list("text", flat=True)) == {"kept", "of theirs", "of mine"}
    assert list(faq.sources.values_list("document", flat=True)) == [first.pk, second.pk]
    assert [version.made_by.username for version in faq.versions.all()[:2]] == ["admin", "colleague"]


def test_an_order_of_documents_that_was_saved_meanwhile_stays(admin_client: Client, colleague: Client) -> None:
    first, second, third = DocumentFactory(), DocumentFactory(), DocumentFactory()
    faq = FAQFactory(question="Old?", documents=[first, second])
    opened = admin_client.get(change_page(faq))
    theirs = build_form(faq) | {"sources-0-position": 1, "sources-1-position": 0}
    assert colleague.post(change_page(faq), theirs).status_code == 302
    added = {"sources-2-document": third.pk, "sources-2-position": ""}
    page = admin_client.post(change_page(faq), sent(opened, question="Mine?", **added))
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert list(faq.sources.values_list("document", flat=True)) == [second.pk, first.pk, third.pk]


def test_an_order_of_documents_that_was_changed_here_is_saved(admin_client: Client, colleague: Client) -> None:
    first, second, third = DocumentFactory(), DocumentFactory(), DocumentFactory()
    faq = FAQFactory(question="Old?", documents=[first, second, third])
    opened = admin_client.get(change_page(faq))
    assert colleague.post(change_page(faq), build_form(faq, reference_answer="Theirs.")).status_code == 302
    mine = {"sources-0-position": 2, "sources-1-position": 0, "sources-2-position": 1}
    page = admin_client.post(change_page(faq), sent(opened, **mine))
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert list(faq.sources.values_list("document", flat=True)) == [second.pk, third.pk, first.pk]
    assert now(faq).reference_answer == "Theirs."


def test_who_changed_what_another_changed_too_is_told_and_keeps_their_own(
    admin_client: Client, colleague: Client
) -> None:
    faq = FAQFactory(question="Old?")
    opened = admin_client.get(change_page(faq))
    colleague.post(change_page(faq), build_form(faq, question="Theirs?"))
    page = admin_client.post(change_page(faq), sent(opened, question="Mine?"))
    assert "and the form has what you wrote: Question" in page.content.decode()
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert now(faq).question == "Mine?"


def test_a_third_change_is_shown_before_anything_is_saved(admin_client: Client, colleague: Client) -> None:
    faq = FAQFactory(question="Old?")
    opened = admin_client.get(change_page(faq))
    colleague.post(change_page(faq), build_form(faq, question="Theirs?"))
    page = admin_client.post(change_page(faq), sent(opened, question="Mine?"))
    colleague.post(change_page(faq), build_form(now(faq), question="Theirs again?", reference_answer="Four."))
    page = admin_client.post(change_page(faq), sent(page))
    assert "Theirs again" in "".join(
        part.text for line in page.context["conflict"].comparison.lines for part in line.parts
    )
    assert now(faq).question == "Theirs again?"
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert (now(faq).question, now(faq).reference_answer) == ("Mine?", "Four.")


def test_what_was_published_in_another_tab_stays_published(admin_client: Client, admin_user: Any) -> None:
    faq = FAQFactory(question="Old?", documents=[DocumentFactory()])
    opened = admin_client.get(change_page(faq))
    set_faq_status(faqs=[now(faq)], status="published", by=admin_user)
    page = admin_client.post(change_page(faq), sent(opened, question="Mine?"))
    text = page.content.decode()
    assert "You saved it in another tab" in text
    assert "admin changed this" not in text
    assert sent(page)["status"] == "published"
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert (now(faq).question, now(faq).status) == ("Mine?", "published")


def test_a_status_that_was_chosen_here_is_saved(admin_client: Client, colleague: Client) -> None:
    faq = FAQFactory(documents=[DocumentFactory()])
    opened = admin_client.get(change_page(faq))
    set_faq_status(faqs=[now(faq)], status="published")
    page = admin_client.post(change_page(faq), sent(opened, status="in_review"))
    assert "Somebody else saved this" in page.content.decode()  # nobody knows who
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert now(faq).status == "in_review"


def test_what_a_colleague_saved_besides_is_not_called_one_s_own(admin_client: Client, colleague: Client) -> None:
    faq = FAQFactory(question="Old?")
    opened = admin_client.get(change_page(faq))
    colleague.post(change_page(faq), build_form(faq, reference_answer="Theirs."))
    admin_client.post(change_page(faq), build_form(now(faq), question="Mine?"))
    page = admin_client.post(change_page(faq), sent(opened, external_id="7")).content.decode()
    assert "You saved it in another tab" not in page
    assert "colleague, admin changed this on" in page


def test_enter_presses_the_button_that_saves_what_is_shown(admin_client: Client, colleague: Client) -> None:
    faq = FAQFactory()
    mine = build_form(faq, question="Mine?")
    colleague.post(change_page(faq), build_form(faq, question="Theirs?"))
    page = admin_client.post(change_page(faq), mine)
    assert pressed_by_enter(page, "faq_form") == "_save"


def test_a_mistake_in_the_form_hides_no_conflict(admin_client: Client, colleague: Client) -> None:
    faq = FAQFactory(question="Old?")
    opened = admin_client.get(change_page(faq))
    page = admin_client.post(change_page(faq), sent(opened, question=""))
    colleague.post(change_page(faq), build_form(faq, reference_answer="Theirs."))
    page = admin_client.post(change_page(faq), sent(page, question="Mine?"))
    assert page.context["conflict"]
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert (now(faq).question, now(faq).reference_answer) == ("Mine?", "Theirs.")


@pytest.mark.parametrize("opened", ["", "{", "[]", '{"status": 3}', "null"])
def test_a_form_that_does_not_say_what_it_was_opened_with_keeps_what_it_has(
    admin_client: Client, colleague: Client, opened: str
) -> None:
    faq = FAQFactory(question="Old?")
    mine = build_form(faq, question="Mine?", opened=opened)
    colleague.post(change_page(faq), build_form(faq, question="Theirs?"))
    page = admin_client.post(change_page(faq), mine)
    assert 'value="Mine?"' in page.content.decode()
    assert admin_client.post(change_page(faq), sent(page)).status_code == 302
    assert now(faq).question == "Mine?"


def test_what_was_written_into_a_deleted_faq_can_be_saved_anew(admin_client: Client) -> None:
    faq = FAQFactory(question="Old?", phrasings=["So?"], documents=[DocumentFactory()])
    mine, page_of_it = build_form(faq, question="Mine?", phrasings=["Or so?"]), change_page(faq)
    faq.delete()
    page = admin_client.post(page_of_it, mine)
    assert "deleted while you worked on it" in page.content.decode()
    assert 'value="Mine?"' in page.content.decode()
    assert admin_client.post(page_of_it, sent(page)).status_code == 302
    made = FAQ.objects.get()
    assert (made.question, made.phrasings.count(), made.sources.count()) == ("Mine?", 2, 1)
