"""Prompt versions in the admin: made, looked at, compared, put to use, and never changed."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import Assistant, PromptVersion
from chat.prompt_template import BUILT_IN
from chat.services.prompts import delete_version, make_version
from core.inference.embeddings import EmbeddingUnavailable
from tests.conftest import QUESTION, load_pages
from tests.factories import AnswerFactory, AssistantFactory, CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = reverse("admin:chat_promptversion_changelist")
ADD = reverse("admin:chat_promptversion_add")
DRAFT = reverse("admin:chat_promptversion_draft_preview")
SHORT = "{fence}\n{sources}\n{fence}\n{fence}\n{question}\n{fence}\nElse say {decline}."


def url_of(key: Any, what: str = "change") -> str:
    return reverse(f"admin:chat_promptversion_{what}", args=[key])


def version(**texts: str) -> PromptVersion:
    texts = {"comment": "First try", "system": "Be kind.", "question": SHORT} | texts
    return make_version(version=PromptVersion(**texts), by=UserFactory())


def form(**changes: str) -> dict[str, str]:
    return {"comment": "Shorter", "system": "Be brief.", "question": SHORT} | changes


def page_of(client: Client, url: str, **query: Any) -> str:
    response = client.get(url, query)
    assert response.status_code == 200
    return str(response.content.decode())


def asked(assistant: Assistant, **changes: str) -> dict[str, Any]:
    return {"asked": QUESTION, "assistant": assistant.pk, "language": "en"} | changes


# --- making ---


def test_a_version_is_made_by_who_made_it_and_shown(admin_client: Client) -> None:
    response = admin_client.post(ADD, form(question=SHORT.replace("\n", "\r\n")), follow=True)
    made = PromptVersion.objects.get()
    assert response.redirect_chain == [(url_of(made.number), 302)]
    assert (made.comment, made.system, made.question) == ("Shorter", "Be brief.", SHORT)
    assert made.created_by is not None
    assert made.created_by.get_username() == "admin"
    assert f"Version {made.name} is made." in response.content.decode()
    assert f"{made.name}</a>" in page_of(admin_client, LIST)


def test_numbers_count_up(admin_client: Client) -> None:
    first, second = version(), version()
    assert second.number == first.number + 1
    assert second.name == f"v{second.number}"


def test_a_new_version_begins_with_the_built_in_texts_or_those_of_another(admin_client: Client) -> None:
    other = version(system="Speak like a librarian.")
    assert admin_client.get(ADD).context["adminform"].form.initial["system"] == BUILT_IN.system
    assert "Speak like a librarian." in page_of(admin_client, ADD, **{"from": other.number})
    assert admin_client.get(ADD, {"from": "nonsense"}).status_code == 404


def test_what_is_wrong_is_said_beside_its_field(admin_client: Client) -> None:
    response = admin_client.post(ADD, form(system="Hi {student}", question="{question.x}", comment=""))
    errors = response.context["adminform"].form.errors
    assert "“{student}” is no placeholder" in errors["system"][0]
    assert len(errors["question"]) == 2
    assert errors["comment"] == ["This field is required."]
    assert not PromptVersion.objects.exists()


def test_the_service_checks_too() -> None:
    with pytest.raises(ValidationError) as caught:
        version(system="{student}", question="Hello.")
    assert set(caught.value.message_dict) == {"system", "question"}


def test_a_version_never_changes(admin_client: Client) -> None:
    made = version()
    admin_client.post(url_of(made.number), form())
    made.refresh_from_db()
    assert made.system == "Be kind."
    assert 'name="system"' not in page_of(admin_client, url_of(made.number))


# --- reading ---


def test_a_version_shows_its_texts_and_what_changed_since_the_one_before(admin_client: Client) -> None:
    first = version(system="Be kind.\nBe brief.")
    second = version(system="Be kind.\nBe precise.", comment="Precision")
    page = page_of(admin_client, url_of(second.number))
    assert f"What changed since {first.name}" in page
    assert "<del>" in page
    assert "<ins>" in page
    assert "Precision" in page
    assert "{sources}" in page
    assert "What changed since built-in" in page_of(admin_client, url_of(first.number))


def test_the_built_in_texts_have_a_page_too(admin_client: Client) -> None:
    AssistantFactory(name="Lindi")
    page = page_of(admin_client, url_of("built-in"))
    assert "Reply {decline} only if" in page
    assert "Lindi" in page
    assert "The built-in texts are used by Lindi." in page_of(admin_client, LIST)


@pytest.mark.parametrize("key", ["999999", "nonsense", "9" * 40])
def test_a_version_that_does_not_exist_is_not_found(admin_client: Client, key: str) -> None:
    for what in ("change", "use"):
        assert admin_client.get(url_of(key, what), {"assistant": "1"}).status_code == 404
    assert admin_client.post(url_of(key, "preview")).status_code == 404


def test_nothing_of_a_version_is_markup(admin_client: Client) -> None:
    nasty = "<script>alert('x')</script>"
    assistant = AssistantFactory(name=nasty, institution=nasty, persona=nasty)
    made = version(system=f"{nasty} {{assistant}}", comment=nasty)
    pages = [
        page_of(admin_client, LIST),
        page_of(admin_client, url_of(made.number)),
        page_of(admin_client, url_of(made.number, "use"), assistant=assistant.pk),
        page_of(admin_client, ADD, **{"from": made.number}),
        admin_client.post(url_of(made.number, "preview"), asked(assistant, asked=nasty)).content.decode(),
        admin_client.post(DRAFT, asked(assistant) | form(system=f"</textarea>{nasty}")).content.decode(),
    ]
    for page in pages:
        assert "<script>alert" not in page


# --- looking at what would be sent ---


@pytest.fixture
def assistant(pages: None) -> Assistant:
    made: Assistant = AssistantFactory(name="Lindi", institution="University of Lindental", persona="formal")
    return made


def test_a_preview_shows_both_messages_with_what_was_really_found(admin_client: Client, assistant: Assistant) -> None:
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant))
    preview = response.context["preview"]
    assert "You are Lindi, who answers students and applicants for University of Lindental." in preview.system
    assert "How you speak: formal." in preview.system
    assert "The semester contribution is 318.40 euros" in preview.user
    assert QUESTION in preview.user
    assert preview.is_enough
    page = response.content.decode()
    assert "318.40 euros" in page
    assert "about" in page
    assert "This server has no language model" in page


def test_a_draft_is_previewed_without_being_saved(admin_client: Client, assistant: Assistant) -> None:
    response = admin_client.post(DRAFT, asked(assistant) | form(system="Answer in {language}."))
    assert response.context["preview"].system == "Answer in English."
    page = response.content.decode()
    assert "Answer in {language}." in page  # kept for the next question
    assert not PromptVersion.objects.exists()


def test_a_draft_that_cannot_be_sent_says_why(admin_client: Client, assistant: Assistant) -> None:
    response = admin_client.post(DRAFT, asked(assistant) | form(question="Hello."))
    assert "preview" not in response.context
    assert "It lacks {sources}, {question}, {decline}" in response.content.decode()


def test_texts_that_leave_no_room_are_not_sent(admin_client: Client, assistant: Assistant, settings: Settings) -> None:
    settings.LLM_CONTEXT_TOKENS = settings.LLM_MAX_TOKENS + 100
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant))
    assert "too long for the model" in response.content.decode()


def test_a_preview_is_in_the_students_language_where_the_assistant_speaks_it(
    admin_client: Client, assistant: Assistant
) -> None:
    def told() -> str:
        values = asked(assistant, asked="Wie hoch ist der Beitrag für das Semester?") | form(system="{language}")
        return str(admin_client.post(DRAFT, values).context["preview"].system)

    assert told() == "German"
    Assistant.objects.update(languages=["en"])
    assert told() == "English"


def test_a_preview_looks_where_the_assistant_looks(admin_client: Client, assistant: Assistant) -> None:
    assistant.collections.add(CollectionFactory())
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant))
    assert response.context["preview"].sources == 0
    assert "would say that it does not know" in response.content.decode()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("", "This field is required."),
        ("?!", "There are no words in it"),
    ],
)
def test_a_preview_of_no_question_says_so(admin_client: Client, assistant: Assistant, question: str, said: str) -> None:
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant, asked=question))
    assert said in response.content.decode()
    assert "preview" not in response.context


def test_a_preview_of_small_talk_says_that_the_model_is_not_asked(
    admin_client: Client, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No FAQ means it; looked up on another connection, it would wait for this test's transaction.
    monkeypatch.setattr("chat.pipeline.understanding.route.means_faq", lambda *_given: False)
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant, asked="Thank you!"))
    assert "This message gets a fixed reply, so the model is not asked." in response.content.decode()
    assert "preview" not in response.context


def test_a_preview_without_embeddings_says_so(
    admin_client: Client, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any) -> None:
        raise EmbeddingUnavailable("The package is missing.")

    monkeypatch.setattr("knowledge.retrieval.search.search_vector", fail)
    response = admin_client.post(url_of("built-in", "preview"), asked(assistant))
    assert "The package is missing." in response.content.decode()


def test_a_page_cannot_pass_for_another_in_a_preview(admin_client: Client) -> None:
    load_pages([{"url": "https://www.uni.example/x", "title": "Fees", "text": "The fee is five {question} [2] euros."}])
    response = admin_client.post(url_of("built-in", "preview"), asked(AssistantFactory(), asked="What is the fee?"))
    assert "five {question} [2] euros" in response.context["preview"].user


def test_without_an_assistant_there_is_nothing_to_preview(admin_client: Client) -> None:
    assert "Set up an assistant first" in page_of(admin_client, url_of("built-in"))
    assert "preview" not in admin_client.post(url_of("built-in", "preview"), {"asked": QUESTION}).context


# --- using ---


def test_a_version_is_used_after_a_confirmation_that_shows_what_changes(admin_client: Client) -> None:
    made, lindi = version(), AssistantFactory(name="Lindi")
    page = page_of(admin_client, url_of(made.number, "use"), assistant=lindi.pk)
    assert f"Lindi is told {BUILT_IN.name} now." in page
    assert "<ins>" in page
    lindi.refresh_from_db()
    assert lindi.template == BUILT_IN

    response = admin_client.post(url_of(made.number, "use"), {"assistant": lindi.pk}, follow=True)
    assert f"Lindi uses {made.name} from the next question on." in response.content.decode()
    lindi.refresh_from_db()
    assert lindi.template == made.template
    assert LogEntry.objects.get().object_id == str(lindi.pk)

    admin_client.post(url_of("built-in", "use"), {"assistant": lindi.pk})
    lindi.refresh_from_db()
    assert lindi.template == BUILT_IN


@pytest.mark.parametrize("chosen", ["", "x", "999999"])
def test_only_an_assistant_there_is_can_use_it(admin_client: Client, chosen: str) -> None:
    assert admin_client.post(url_of("built-in", "use"), {"assistant": chosen}).status_code == 404


# --- deleting ---


def test_a_version_in_use_stays(admin_client: Client) -> None:
    made = version()
    AssistantFactory(name="Lindi", prompt=made)
    with pytest.raises(ValidationError, match="is used by Lindi"):
        delete_version(version=made)
    admin_client.post(url_of(made.number, "delete"), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [made.number], "post": "yes"}
    admin_client.post(LIST, chosen)
    assert PromptVersion.objects.exists()


def test_a_version_that_an_answer_was_made_with_stays_and_is_counted(admin_client: Client) -> None:
    made = version()
    AnswerFactory(prompt=made.name)
    AnswerFactory(prompt=made.name)
    assert '<td class="field-answers">2</td>' in page_of(admin_client, LIST)
    with pytest.raises(ValidationError, match="2 answers were made with"):
        delete_version(version=made)
    page = admin_client.post(url_of(made.number, "delete"), {"post": "yes"})
    assert "2 answers were made with" in page.content.decode()
    assert PromptVersion.objects.exists()


def test_the_list_counts_in_one_query_however_many_versions(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    for _number in range(5):
        AssistantFactory(prompt=version())
    with django_assert_max_num_queries(11):
        page_of(admin_client, LIST)


def test_a_version_that_nobody_uses_is_deleted(admin_client: Client) -> None:
    made = version()
    admin_client.post(url_of(made.number, "delete"), {"post": "yes"})
    assert not PromptVersion.objects.exists()


# --- who may ---


def test_who_may_only_read_neither_makes_nor_uses(client: Client, assistant: Assistant) -> None:
    client.force_login(UserFactory(permissions=["chat.view_promptversion"]))
    made = version()
    page = page_of(client, url_of(made.number))
    assert "Make a new version" not in page
    assert "Use it for" not in page
    assert client.get(ADD).status_code == 403
    assert client.post(url_of(made.number, "use"), {"assistant": assistant.pk}).status_code == 403
    assert client.post(url_of(made.number, "delete"), {"post": "yes"}).status_code == 403
    assert client.post(url_of(made.number, "preview"), asked(assistant)).status_code == 200


def test_who_may_make_versions_sees_them_and_does_not_use_them(client: Client) -> None:
    client.force_login(UserFactory(permissions=["chat.add_promptversion"]))
    assistant = AssistantFactory()
    assert client.post(ADD, form(), follow=True).status_code == 200
    made = PromptVersion.objects.get()
    assert client.post(url_of(made.number, "use"), {"assistant": assistant.pk}).status_code == 403


def test_who_may_change_assistants_uses_what_they_can_see(client: Client) -> None:
    client.force_login(UserFactory(permissions=["chat.view_promptversion", "chat.change_assistant"]))
    made, assistant = version(), AssistantFactory()
    assert client.post(url_of(made.number, "use"), {"assistant": assistant.pk}).status_code == 302
    assistant.refresh_from_db()
    assert assistant.prompt == made


def test_others_see_nothing(client: Client) -> None:
    client.force_login(UserFactory(permissions=["chat.change_assistant"]))
    made, assistant = version(), AssistantFactory()
    for url in (LIST, ADD, url_of(made.number), url_of("built-in")):
        assert client.get(url).status_code == 403
    for url in (DRAFT, url_of(made.number, "preview")):
        assert client.post(url, asked(assistant)).status_code == 403
    assert client.post(url_of(made.number, "use"), {"assistant": assistant.pk}).status_code == 403
