"""An assistant as staff set it up: what it speaks, how it writes, and what it says when it does not know."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import Assistant, PromptVersion
from chat.prompt_template import BUILT_IN
from chat.services.prompts import make_version
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
ADD = reverse("admin:chat_assistant_add")


def form(**changes: Any) -> dict[str, Any]:
    values = {"name": "Lindi", "slug": "lindi", "institution": "University of Lindental"}
    values |= {"emergency_contacts-TOTAL_FORMS": "0", "emergency_contacts-INITIAL_FORMS": "0"}
    values |= {"kind_examples-TOTAL_FORMS": "0", "kind_examples-INITIAL_FORMS": "0"}
    return values | {"languages": ["en", "de"], "temperature": "0.1", "strictness": "strict"} | changes


def url_of(assistant: Assistant) -> str:
    return reverse("admin:chat_assistant_change", args=[assistant.pk])


def version() -> PromptVersion:
    made = PromptVersion(comment="Kinder", system=BUILT_IN.system, question=BUILT_IN.question)
    return make_version(version=made, by=UserFactory())


def test_an_assistant_is_set_up_with_all_that_makes_its_answers(admin_client: Client) -> None:
    prompt = version()
    told = {
        "languages": ["de"],
        "persona": "Formal, with Sie.",
        "prompt": prompt.pk,
        "model": " mistral-small ",
        "temperature": "0.3",
        "max_tokens": "500",
        "strictness": "balanced",
        "abstention": "Ask the office.",
        "abstention_de": "Fragen Sie das Büro.",
    }
    assert admin_client.post(ADD, form(**told)).status_code == 302
    made = Assistant.objects.get()
    assert (made.languages, made.persona, made.prompt, made.model) == (
        ["de"],
        "Formal, with Sie.",
        prompt,
        "mistral-small",
    )
    assert (made.temperature, made.max_tokens, made.strictness) == (0.3, 500, "balanced")
    assert (made.abstention_in("en"), made.abstention_in("de")) == ("Ask the office.", "Fragen Sie das Büro.")
    assert made.template == prompt.template


def test_what_is_left_alone_is_the_servers_and_built_in(admin_client: Client) -> None:
    admin_client.post(ADD, form())
    made = Assistant.objects.get()
    assert (made.languages, made.model, made.temperature, made.max_tokens) == (["en", "de"], "", 0.1, None)
    assert (made.prompt, made.template, made.abstention_in("de")) == (None, BUILT_IN, "")


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"languages": []}, "languages", "Tick at least one language."),
        ({"languages": ["fr"]}, "languages", "fr is not one of the available choices"),
        ({"temperature": "2.5"}, "temperature", "less than or equal to 2"),
        ({"temperature": "-1"}, "temperature", "greater than or equal to 0"),
        ({"temperature": "nan"}, "temperature", "Enter a number."),
        ({"max_tokens": "3"}, "max_tokens", "greater than or equal to 16"),
        ({"persona": "x" * 1001}, "persona", "at most 1000 characters"),
        ({"strictness": "blind"}, "strictness", "not one of the available choices"),
        ({"prompt": "999999"}, "prompt", "Select a valid choice"),
    ],
)
def test_what_cannot_work_is_refused_beside_its_field(
    admin_client: Client, changes: dict[str, Any], field: str, said: str
) -> None:
    response = admin_client.post(ADD, form(**changes))
    assert said in response.context["adminform"].form.errors[field][0]
    assert not Assistant.objects.exists()


def test_no_assistant_is_without_a_language() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        AssistantFactory(languages=[])


@pytest.mark.parametrize(
    ("languages", "wanted", "spoken"), [(["en", "de"], "de", "de"), (["en"], "de", "en"), (["de"], "en", "de")]
)
def test_it_answers_in_the_students_language_where_it_speaks_it(languages: list[str], wanted: str, spoken: str) -> None:
    assert AssistantFactory(languages=languages).language_for(wanted) == spoken


def test_the_form_shows_what_an_empty_field_stands_for(admin_client: Client, settings: Settings) -> None:
    settings.LLM_MODEL, settings.LLM_MAX_TOKENS = "the-servers-model", 700
    version()
    page = admin_client.get(ADD).content.decode()
    assert 'placeholder="the-servers-model"' in page
    assert 'placeholder="700"' in page
    assert f"{BUILT_IN.name}: the texts that come with MarcelCMS" in page
    assert ": Kinder</option>" in page


def test_its_page_leads_to_its_prompt_and_to_trying_it(admin_client: Client) -> None:
    assistant = AssistantFactory()
    page = admin_client.get(url_of(assistant)).content.decode()
    assert reverse("admin:chat_promptversion_change", args=["built-in"]) in page
    assert reverse("try-question") in page
    assistant.prompt = version()
    assistant.save()
    page = admin_client.get(url_of(assistant)).content.decode()
    assert reverse("admin:chat_promptversion_change", args=[assistant.prompt_id]) in page


def test_the_list_names_languages_and_prompt(admin_client: Client) -> None:
    AssistantFactory(languages=["de"], prompt=version())
    page = admin_client.get(reverse("admin:chat_assistant_changelist")).content.decode()
    assert '<td class="field-spoken">German</td>' in page


def posted(client: Client, assistant: Assistant, **changes: Any) -> dict[str, Any]:
    """Return what a browser sends if nobody changed the assistant's form, but for `changes`."""
    shown = client.get(url_of(assistant)).context
    formsets = [inline.formset for inline in shown["inline_admin_formsets"]]
    forms = [shown["adminform"].form, *(form for formset in formsets for form in formset.forms)]
    forms += [formset.management_form for formset in formsets]
    values = {field.html_name: field.value() for form in forms for field in form}
    lines = {name: value.replace("\n", "\r\n") if isinstance(value, str) else value for name, value in values.items()}
    return {name: value for name, value in (lines | changes).items() if value is not None and value is not False}


def test_a_form_that_nobody_changed_changes_nothing(admin_client: Client) -> None:
    assistant = AssistantFactory(suggestions="How much is it?\nWhere is it?")
    admin_client.post(url_of(assistant), posted(admin_client, assistant))
    assistant.refresh_from_db()
    assert assistant.suggestions == "How much is it?\nWhere is it?"
    assert not assistant.emergency_contacts.exists()
    assert LogEntry.objects.latest("pk").get_change_message() == "No fields changed."


def test_the_built_in_contacts_become_its_own_once_one_is_changed(admin_client: Client) -> None:
    assistant = AssistantFactory()
    values = posted(admin_client, assistant)
    admin_client.post(url_of(assistant), values | {"emergency_contacts-0-name": "Night line of the students"})
    assert assistant.emergency_contacts.count() == int(values["emergency_contacts-TOTAL_FORMS"])
    assert assistant.emergency_contacts.filter(name="Night line of the students").exists()
