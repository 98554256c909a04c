"""One press makes the question of a case another way to ask an FAQ that is there."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Case
from faqs.models import FAQ, FAQVersion
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import QUESTION, new_case
from tests.analytics.cases.test_suggestions import new_faq

pytestmark = pytest.mark.django_db
RIGHTS = [*ANSWERS, "faqs.view_faq", "faqs.change_faq"]


@pytest.fixture(autouse=True)
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the FAQs that a worker is asked to index."""
    queued: list[int] = []
    monkeypatch.setattr("faqs.tasks.index_faq.delay_on_commit", queued.append)
    for task in ("faqs.tasks.index_faq", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)
    return queued


@pytest.fixture
def faq() -> FAQ:
    return new_faq("Are dogs allowed in the library?", answer_en="No.")


@pytest.fixture
def curator(client: Client) -> Client:
    client.force_login(desk("eve", permissions=[*RIGHTS, "faqs.publish_faq"]))
    return client


def add(client: Client, case: Case, faq: FAQ) -> Any:
    return client.post(reverse("admin:chat_case_phrasing", args=[case.pk, faq.pk]), follow=True)


def phrasings(faq: FAQ) -> list[str]:
    return list(faq.phrasings.values_list("text", flat=True))


def test_the_page_offers_each_near_faq_and_one_press_adds_the_question(
    curator: Client, faq: FAQ, indexed: list[int]
) -> None:
    case = new_case()
    page = curator.get(reverse("admin:chat_case_change", args=[case.pk])).content.decode()
    assert f'action="{reverse("admin:chat_case_phrasing", args=[case.pk, faq.pk])}"' in page
    indexed.clear()
    shown = add(curator, case, faq).content.decode()
    assert "The question is a phrasing of the FAQ “Are dogs allowed in the library?” now." in shown
    assert "Add as a phrasing" not in shown
    assert (phrasings(faq), indexed) == ([QUESTION], [faq.pk])
    case.refresh_from_db()
    assert case.faq == faq
    version = FAQVersion.objects.filter(faq=faq).latest("pk")
    assert (version.reason, version.made_by.username) == (FAQVersion.Reason.CASE, "eve")


def test_names_and_numbers_of_the_student_do_not_go_along(curator: Client, faq: FAQ) -> None:
    add(curator, new_case(about=None, question="My number is 0171 2345678.\nMay I bring my dog?"), faq)
    assert phrasings(faq) == ["My number is [phone]. May I bring my dog?"]


def test_a_phrasing_that_is_there_is_not_added_again(curator: Client, faq: FAQ) -> None:
    add(curator, new_case(), faq)
    case = new_case()
    assert "The FAQ has this phrasing already." in add(curator, case, faq).content.decode()
    assert phrasings(faq) == [QUESTION]
    case.refresh_from_db()
    assert case.faq is None


def test_to_a_published_faq_only_those_add_who_may_publish(client: Client, faq: FAQ) -> None:
    client.force_login(desk("carla", permissions=RIGHTS))
    assert "ask somebody who may publish FAQs" in add(client, new_case(), faq).content.decode()
    assert phrasings(faq) == []
    FAQ.objects.filter(pk=faq.pk).update(status="draft")
    add(client, new_case(), faq)
    assert phrasings(faq) == [QUESTION]


def test_who_may_not_change_faqs_adds_none(office: Client, faq: FAQ) -> None:
    case = new_case()
    assert "Add as a phrasing" not in office.get(reverse("admin:chat_case_change", args=[case.pk])).content.decode()
    assert add(office, case, faq).status_code == 403
    assert phrasings(faq) == []
