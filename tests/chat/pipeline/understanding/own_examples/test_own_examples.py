"""An assistant's own examples: recognised by it alone, and never to the harm of a cry for help."""

import pytest

from chat.conversations.closing import give_up
from chat.models import ORDINARY, Assistant, KindExample, Message
from chat.pipeline.understanding import help_classifier, kind_classifier
from chat.pipeline.understanding.example_classifier import ExampleClassifier
from chat.pipeline.understanding.help_classifier import recognised_need
from chat.pipeline.understanding.help_examples import load_examples
from chat.pipeline.understanding.kind_classifier import recognised_kind
from chat.pipeline.understanding.own_examples.examples import OwnExamples
from chat.pipeline.understanding.own_examples.loading import embed_pending
from chat.services.client_questions import clean_history
from knowledge.retrieval.query_vectors import multilingual_vectors
from tests.factories import AnswerFactory, AssistantFactory, QuestionFactory
from tests.servers import Server

#: What women ask at a bar in Germany who need help.
LUISA = "Ist Luisa hier?"
CHEF = "Wo ist denn hier der Chef?"


def own(base: ExampleClassifier, *examples: tuple[str, str]) -> OwnExamples:
    vectors = multilingual_vectors([text for text, _kind in examples])
    return OwnExamples.of(base, [(*example, vector) for example, vector in zip(examples, vectors, strict=True)])


def own_kinds(*examples: tuple[str, str]) -> OwnExamples:
    return own(kind_classifier.get_classifier(), *examples)


def own_needs(*examples: tuple[str, str]) -> OwnExamples:
    return own(help_classifier.get_classifier(), *examples)


def add(assistant: Assistant, text: str, kind: str) -> None:
    KindExample.objects.create(assistant=assistant, text=text, kind=kind)
    embed_pending()


# --- what they change ---


def test_messages_like_an_example_have_its_kind() -> None:
    assert recognised_kind("Wo ist der Chef hier?") is None
    assert recognised_kind("Wo ist der Chef hier?", own_kinds((CHEF, "person"))) == "person"


def test_the_kind_of_what_is_recognised_already_can_be_another() -> None:
    assert recognised_kind("Ahoi") == "greeting"
    assert recognised_kind("Ahoi", own_kinds(("Ahoi", "goodbye"))) == "goodbye"


@pytest.mark.parametrize("said", ["helau", "Helau!!", "HELAU"])
def test_a_message_with_the_words_of_an_example_is_of_its_kind_however_it_is_written(said: str) -> None:
    assert recognised_kind(said) is None
    assert recognised_kind(said, own_kinds(("Helau!", "greeting"))) == "greeting"


def test_an_example_of_a_question_has_messages_like_it_looked_up() -> None:
    joke = "tell me a joke"
    assert recognised_kind(joke) == "off-topic"
    assert recognised_kind(joke, own_kinds(("Tell me a joke!", ORDINARY))) is None


@pytest.mark.parametrize(
    "text", ["When does the library open?", "Was kostet das Semesterticket?", "Thank you!", "Mensa Card", "hi"]
)
def test_messages_unlike_all_examples_are_read_as_before(text: str) -> None:
    assert recognised_kind(text, own_kinds((CHEF, "person"), ("Ei gude wie", "greeting"))) == recognised_kind(text)


def test_examples_that_contradict_the_shipped_ones_lose_few_questions_else() -> None:
    greetings = own_kinds(*((f"Kurs {number}", "greeting") for number in range(20)))
    asked = [each.text for each in load_examples() if each.kind == ORDINARY and each.language in ("en", "de")][::40]
    lost = [text for text in asked if recognised_kind(text, greetings) and not recognised_kind(text)]
    assert len(asked) > 100
    assert len(lost) <= len(asked) / 100


# --- cries for help ---


def test_messages_like_an_example_of_a_cry_for_help_are_one() -> None:
    needs = own_needs((LUISA, "assault"))
    assert recognised_need("ist luisa hier") is None
    assert recognised_need("ist luisa hier", needs) == "assault"
    assert recognised_need("Wo ist die Mensa?", needs) is None


def test_no_example_of_staff_takes_a_shipped_cry_for_help_away() -> None:
    """Shipped cries are added as another kind of need: each that is recognised without that is what it was."""
    others = {"crisis": "assault", "assault": "emergency", "emergency": "crisis"}
    cries = [each for each in load_examples() if each.kind != ORDINARY][::50]
    before = {each.text: need for each in cries if (need := recognised_need(each.text))}
    needs = own_needs(*((each.text, others[each.kind]) for each in cries))
    assert len(before) > 30
    assert {text: recognised_need(text, needs) for text in before} == before


def test_a_cry_for_help_stays_one_whatever_staff_call_it(server: Server) -> None:
    assistant = AssistantFactory(recognises_kinds=False)
    for kind in (ORDINARY, "greeting"):
        add(assistant, "I want to kill myself", kind)
    with server.connect() as tab:
        reply = tab.answer("I want to kill myself")
    assert Message.objects.get(pk=reply.id).route == "crisis"


# --- in a chat ---


def route_of(server: Server, text: str) -> str:
    with server.connect() as tab:
        return str(Message.objects.get(pk=tab.answer(text).id).route)


@pytest.mark.usefixtures("pages")
def test_an_example_counts_from_the_next_message_on_until_it_is_removed(server: Server) -> None:
    assistant = AssistantFactory()
    assert route_of(server, CHEF) == "question"
    add(assistant, CHEF, "person")
    assert route_of(server, CHEF) == "meta"
    KindExample.objects.all().delete()
    assert route_of(server, CHEF) == "question"


@pytest.mark.usefixtures("pages")
def test_examples_are_of_one_assistant(server: Server) -> None:
    AssistantFactory()
    add(AssistantFactory(), CHEF, "person")
    assert route_of(server, CHEF) == "question"


def test_a_message_like_an_own_cry_for_help_gets_the_contacts(server: Server) -> None:
    add(AssistantFactory(), LUISA, "assault")
    assert route_of(server, LUISA) == "assault"


@pytest.mark.django_db
def test_an_answer_that_ended_early_is_marked_by_the_assistants_own_cries() -> None:
    assistant = AssistantFactory()
    add(assistant, LUISA, "assault")
    question = QuestionFactory(text=LUISA, conversation__assistant=assistant)
    reply = AnswerFactory(question=question, conversation=question.conversation, status=Message.Status.GENERATING)
    give_up(reply.pk, "")
    assert set(Message.objects.values_list("route", flat=True)) == {"assault"}


def test_no_own_cry_for_help_of_a_clients_history_is_read() -> None:
    said = [("user", LUISA), ("assistant", "Call somebody."), ("user", "How much is it?")]
    assert clean_history(said, own_needs((LUISA, "assault"))) == (("user", "How much is it?"),)


@pytest.mark.usefixtures("pages")
def test_an_assistant_that_recognises_no_kinds_looks_up_what_is_not_a_cry_for_help(server: Server) -> None:
    AssistantFactory(recognises_kinds=False)
    assert route_of(server, "Thank you!") == "question"
    assert route_of(server, "I want to kill myself") == "crisis"
