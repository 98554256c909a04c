"""Rules lead a question to an office."""

import pytest
from django.core.exceptions import ValidationError

from chat.cases.routing import choose_office, list_offices
from chat.models import Message, Office, OfficeRule
from tests.factories import AnswerFactory, CategoryFactory, CitationFactory, FAQFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer() -> Message:
    made: Message = AnswerFactory(status="abstained")
    return made


@pytest.fixture
def default(answer: Message) -> Office:
    return Office.objects.create(assistant=answer.conversation.assistant, name="Students", is_default=True)


@pytest.fixture
def housing(answer: Message) -> Office:
    return Office.objects.create(assistant=answer.conversation.assistant, name="Housing")


def chosen(answer: Message) -> Office | None:
    conversation = answer.conversation
    return choose_office(conversation, answer, list_offices(conversation))


def test_what_no_rule_leads_elsewhere_goes_to_the_default(answer: Message, default: Office, housing: Office) -> None:
    assert chosen(answer) == default


def test_the_topic_is_that_of_the_closest_faq(answer: Message, default: Office, housing: Office) -> None:
    faq = FAQFactory(category=CategoryFactory())
    OfficeRule.objects.create(office=housing, category=faq.category)
    assert chosen(answer) == default
    answer.related = [faq.question]
    assert chosen(answer) == housing


def test_a_student_of_a_programme_is_led_to_its_office(answer: Message, default: Office, housing: Office) -> None:
    OfficeRule.objects.create(office=housing, audience="programme:law")
    answer.conversation.audience = ["programme:law"]
    assert chosen(answer) == housing


def test_the_page_that_was_cited_first_decides(answer: Message, default: Office, housing: Office) -> None:
    OfficeRule.objects.create(office=housing, page="https://uni.example/living/")
    CitationFactory(message=answer, n=1, url="https://uni.example/living/dorms")
    assert chosen(answer) == housing


def test_all_that_a_rule_names_must_be_true(answer: Message, default: Office, housing: Office) -> None:
    OfficeRule.objects.create(office=housing, audience="programme:law", page="https://uni.example/")
    answer.conversation.audience = ["programme:law"]
    assert chosen(answer) == default


def test_an_office_that_takes_nothing_is_not_chosen(answer: Message, default: Office, housing: Office) -> None:
    OfficeRule.objects.create(office=housing, audience="programme:law")
    answer.conversation.audience = ["programme:law"]
    Office.objects.filter(pk=housing.pk).update(is_active=False)
    assert chosen(answer) == default


def test_without_an_office_there_is_none(answer: Message) -> None:
    assert chosen(answer) is None


def test_a_rule_names_something(housing: Office) -> None:
    with pytest.raises(ValidationError, match="Name a topic"):
        OfficeRule(office=housing).full_clean()
