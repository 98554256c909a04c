"""Messages that no page answers: recognised by examples, and answered in words that fit."""

from collections import Counter, defaultdict

import pytest

from chat.models import ORDINARY, Kind, Message
from chat.pipeline.understanding.example_classifier import ClassifierOutdated
from chat.pipeline.understanding.help_examples import load_examples
from chat.pipeline.understanding.kind_classifier import get_classifier, load_kind_examples, recognised_kind
from chat.pipeline.understanding.kind_fitting import derive_ordinary
from chat.pipeline.understanding.route import ROUTES
from core.inference.embeddings import EmbeddingUnavailable
from tests.factories import AssistantFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hi", "greeting"),
        ("Hello!", "greeting"),
        ("Guten Tag", "greeting"),
        ("hey, how are you?", "greeting"),
        ("How are you today?", "greeting"),
        ("wie gehts", "greeting"),
        ("Na, wie geht es dir?", "greeting"),
        ("thanks a lot!", "thanks"),
        ("thank you, that was very helpful", "thanks"),
        ("Thanks for the quick reply!", "thanks"),
        ("Vielen Dank.", "thanks"),
        ("super, vielen Dank für die schnelle Antwort", "thanks"),
        ("Danke, das hat mir sehr geholfen!", "thanks"),
        ("ok, danke 👍", "thanks"),
        ("ok", "thanks"),
        ("alles klar", "thanks"),
        ("got it, thanks", "thanks"),
        ("bye", "goodbye"),
        ("you are useless", "complaint"),
        ("That's wrong!", "complaint"),
        ("no, that is not what I asked", "complaint"),
        ("das stimmt nicht", "complaint"),
        ("Das hilft mir nicht weiter.", "complaint"),
        ("du bist so dumm", "insult"),
        ("fuck you", "insult"),
        ("tell me a funny joke", "off-topic"),
        ("Wie wird das Wetter heute?", "off-topic"),
    ],
)
def test_small_talk_needs_no_page(text: str, kind: str) -> None:
    assert recognised_kind(text) == kind
    assert ROUTES[Kind(kind)] == Message.Route.CHIT_CHAT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What can you do?", "assistant"),
        ("Are you a robot?", "assistant"),
        ("Wobei können Sie mir helfen?", "assistant"),
        ("help", "assistant"),
        ("can you speak german?", "assistant"),
        ("Do you also understand English?", "assistant"),
        ("kannst du auch englisch?", "assistant"),
        ("Sprechen Sie Deutsch?", "assistant"),
        ("can i talk to a human", "person"),
        ("I want to speak to a real person please", "person"),
        ("Kann ich mit einem Menschen sprechen?", "person"),
        ("Please connect me to somebody of your staff", "person"),
        ("My enrolment is stuck, could someone from the office please call me?", "person"),
        ("kann ich wegen meiner note mit einem menschen sprechen und nicht mit einem bot", "person"),
    ],
)
def test_questions_about_the_assistant_are_its_own(text: str, kind: str) -> None:
    assert recognised_kind(text) == kind
    assert ROUTES[Kind(kind)] == Message.Route.META


@pytest.mark.parametrize(
    "text",
    [
        "Hi, when is the deadline?",
        "Is there a suicide prevention service?",
        "Thanks, and where is the library?",
        "Thanks! And when is the deadline?",
        "Danke! Und wann macht die Bibliothek zu?",
        "What do you know about the BAföG office?",
        "Hilfe bei der Wohnungssuche",
        "Thanks, that was helpful, and when is the deadline?",
        "Is it wrong to enrol twice?",
        "Who advises me about my thesis?",
        "Wie erreiche ich das Prüfungsamt telefonisch?",
        "Kann ich auf Englisch schreiben?",
        "How are you graded?",
        "Wie geht die Einschreibung?",
        "Who can I complain to about a lecturer?",
        "nein",
        "that is right",
    ],
)
def test_whatever_may_be_a_question_is_one(text: str) -> None:
    assert recognised_kind(text) is None


@pytest.mark.parametrize(
    "text", ["Mensa", "Semesterticket", "housing", "deadlines", "exam dates", "WLAN", "12 October", "Do"]
)
def test_a_word_that_pages_are_about_is_a_question(text: str) -> None:
    assert recognised_kind(text) is None


def test_faint_praise_is_no_complaint() -> None:
    assert recognised_kind("You are not bad") == Kind.THANKS


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Good morning!", "Hello! What would you like to know?"),
        ("Thanks a lot!", "You are welcome."),
        ("See you later!", "Goodbye, and good luck"),
        ("That's wrong!", "I am sorry that this did not help."),
        ("You are so stupid", "I cannot help with that."),
        ("Tell me a joke!", "I am better at questions about studying here."),
        ("Who are you?", "a program, not a person"),
        ("Du hast meine Frage nicht beantwortet!", "Es tut mir leid"),
    ],
)
def test_the_reply_fits_and_cites_no_page(server: Server, llm: FakeLLM, text: str, reply: str) -> None:
    with server.connect() as tab:
        answer = tab.answer(text)
    assert reply in answer.text
    assert answer.types == ["message_start", "message_delta", "message_end"]
    assert (answer.end["status"], answer.end["strategy"]) == ("complete", "fixed")
    assert not llm.requests


@pytest.mark.parametrize("text", ["That is not what I asked!", "Let me talk to a person"])
def test_who_is_not_helped_is_told_whom_to_ask(server: Server, text: str) -> None:
    AssistantFactory(contact_name="Student advice", contact_email="advice@uni.example")
    with server.connect() as tab:
        assert tab.answer(text).text.endswith("Student advice, advice@uni.example")


@pytest.mark.usefixtures("pages")
def test_small_talk_is_looked_up_when_the_student_says_so(server: Server) -> None:
    with server.connect() as tab:
        reply = tab.answer("Who are you?", as_question=True)
    assert Message.objects.get(pk=reply.id).route == "question"


def test_without_the_embedding_model_it_is_recognised_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_text: str) -> None:
        raise EmbeddingUnavailable("The model cannot be loaded.")

    monkeypatch.setattr("chat.pipeline.understanding.kind_classifier.multilingual_vector", away)
    assert recognised_kind("Thank you!") == Kind.THANKS
    assert recognised_kind("When does the library open?") is None


def test_a_classifier_that_is_not_fitted_to_the_examples_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.pipeline.understanding.kind_classifier.fingerprint_of_kinds", lambda: "other examples")
    get_classifier.cache_clear()
    with pytest.raises(ClassifierOutdated, match="fit_kind_classifier"):
        get_classifier()


def test_each_kind_has_examples_in_both_languages() -> None:
    number = Counter((each.language, each.kind) for each in load_kind_examples())
    assert all(number[language, kind] >= 20 for language in ("en", "de") for kind in (*Kind, ORDINARY))


def test_no_cry_for_help_is_an_example_of_a_kind() -> None:
    cries = {each.text.casefold() for each in load_examples() if each.kind != ORDINARY}
    assert [each.text for each in load_kind_examples() if each.kind != ORDINARY and each.text.casefold() in cries] == []


def test_no_example_is_of_two_kinds() -> None:
    kinds = defaultdict(set)
    examples = load_kind_examples()
    for each in (*examples, *derive_ordinary(examples)):
        kinds[each.text.casefold()].add(each.kind)
    assert [text for text, found in kinds.items() if len(found) > 1] == []
