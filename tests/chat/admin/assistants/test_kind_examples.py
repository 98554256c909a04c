"""Examples of kinds of messages in the assistant's form: saved, checked, and effective once they have a vector."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from chat.models import Assistant, KindExample
from chat.pipeline.question import build_question
from chat.pipeline.understanding.own_examples.loading import embed_pending
from chat.pipeline.understanding.route import kind_of
from chat.tasks import embed_kind_examples
from core.inference.embeddings import EmbeddingUnavailable
from tests.chat.admin.test_assistants import posted, url_of
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
NAME = "kind_examples"


@pytest.fixture
def assistant() -> Assistant:
    made: Assistant = AssistantFactory()
    return made


def save(client: Client, assistant: Assistant, *examples: tuple[str, str]) -> Any:
    """Add examples (kind, text) to the assistant's form as it is, and send it."""
    begin = assistant.kind_examples.count()
    rows: dict[str, Any] = {f"{NAME}-TOTAL_FORMS": begin + len(examples)}
    for number, (kind, text) in enumerate(examples, start=begin):
        rows |= {f"{NAME}-{number}-kind": kind, f"{NAME}-{number}-text": text}
    return client.post(url_of(assistant), posted(client, assistant) | rows)


def errors(response: Any) -> list[str]:
    formset = response.context["inline_admin_formsets"][1].formset
    of_rows = [said for form in formset.forms for found in form.errors.values() for said in found]
    return [*map(str, formset.non_form_errors()), *map(str, of_rows)]


def test_an_example_is_in_use_once_a_worker_has_read_it(admin_client: Client, assistant: Assistant) -> None:
    assert save(admin_client, assistant, ("greeting", "  Hoi   Zäme! ")).status_code == 302
    assert "not yet: it is read in the background" in admin_client.get(url_of(assistant)).content.decode()
    assert kind_of(build_question(assistant, "Hoi, zäme", "de")) is None
    embed_kind_examples()
    assert "not yet: it is read in the background" not in admin_client.get(url_of(assistant)).content.decode()
    assert kind_of(build_question(assistant, "Hoi, zäme", "de")) == "greeting"


def test_saving_queues_the_work(
    admin_client: Client,
    assistant: Assistant,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(embed_kind_examples, "delay", queued := Mock())
    with django_capture_on_commit_callbacks(execute=True):
        save(admin_client, assistant, ("greeting", "Ei gude"))
    queued.assert_called_once_with()


def test_the_change_stands_in_the_audit_log(admin_client: Client, assistant: Assistant) -> None:
    save(admin_client, assistant, ("greeting", "Ei gude"))
    said = LogEntry.objects.latest("pk").get_change_message()
    assert said == "Added example of a kind of message “Ei gude”."


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ([("greeting", "")], "This field is required."),
        ([("greeting", "   ")], "This field is required."),
        ([("greeting", "?!")], "There are no words in it"),
        ([("greeting", "x" * 301)], "at most 300 characters"),
        ([("nonsense", "Ei gude")], "not one of the available choices"),
        ([("greeting", "Ei gude"), ("greeting", "ei GUDE")], "This message is there already."),
        ([("greeting", "Ei gude"), ("thanks", "Ei gude")], "This message is there as “greeting”"),
        ([("off-topic", "I want to kill myself")], "recognised as a cry for help (crisis: suicide, self-harm)"),
        ([("ordinary", "I want to kill myself")], "it cannot be another kind"),
        ([("greeting", f"Ei gude {n}") for n in range(201)], "At most 200 examples"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_is_saved(
    admin_client: Client, assistant: Assistant, examples: list[tuple[str, str]], said: str
) -> None:
    response = save(admin_client, assistant, *examples)
    assert response.status_code == 200
    assert any(said in error for error in errors(response)), errors(response)
    assert not assistant.kind_examples.exists()


def test_another_kind_of_what_is_saved_already_is_refused(admin_client: Client, assistant: Assistant) -> None:
    save(admin_client, assistant, ("greeting", "Ei gude"))
    response = save(admin_client, assistant, ("thanks", "Ei gude"))
    assert "This message is there as “greeting”: it can be of one kind only." in errors(response)
    assert assistant.kind_examples.count() == 1


def test_a_new_text_gets_a_new_vector_and_a_new_kind_keeps_it(admin_client: Client, assistant: Assistant) -> None:
    save(admin_client, assistant, ("greeting", "Ei gude"))
    embed_pending()
    values = posted(admin_client, assistant)
    admin_client.post(url_of(assistant), values | {f"{NAME}-0-kind": "thanks"})
    assert KindExample.objects.get().embedding is not None
    admin_client.post(url_of(assistant), values | {f"{NAME}-0-text": "Gude"})
    assert KindExample.objects.get().embedding is None
    assert embed_pending() == 1


def test_without_the_embedding_model_it_is_saved_and_recognised_by_its_words(
    admin_client: Client, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> None:
        raise EmbeddingUnavailable("The model cannot be loaded.")

    for module in ("help_classifier.multilingual_vector", "kind_classifier.multilingual_vector"):
        monkeypatch.setattr(f"chat.pipeline.understanding.{module}", away)
    monkeypatch.setattr("chat.pipeline.understanding.own_examples.loading.multilingual_vectors", away)
    assert save(admin_client, assistant, ("greeting", "Ei gude wie")).status_code == 302
    with pytest.raises(EmbeddingUnavailable):
        embed_kind_examples()
    assert kind_of(build_question(assistant, "ei gude wie", "de")) == "greeting"
    monkeypatch.undo()
    embed_kind_examples()
    assert KindExample.objects.get().embedding is not None


@pytest.mark.parametrize(("may", "status"), [("change_assistant", 302), ("view_assistant", 403)])
def test_who_may_change_the_assistant_may_change_its_examples(
    client: Client, assistant: Assistant, may: str, status: int
) -> None:
    user = UserFactory(permissions=[f"chat.{may}"])
    client.force_login(user)
    page = client.get(reverse("admin:chat_assistant_change", args=[assistant.pk])).content.decode()
    assert "Messages of your students, and what they are" in page
    values = {f"{NAME}-TOTAL_FORMS": "1", f"{NAME}-INITIAL_FORMS": "0", f"{NAME}-0-kind": "greeting"}
    values |= {"emergency_contacts-TOTAL_FORMS": "0", "emergency_contacts-INITIAL_FORMS": "0"}
    values |= {"name": "Lindi", "slug": "lindi", "institution": "Lindental", "languages": ["en"]}
    values |= {"temperature": "0.1", "strictness": "strict", f"{NAME}-0-text": "Ei gude"}
    assert client.post(url_of(assistant), values).status_code == status
    assert assistant.kind_examples.exists() == (status == 302)
