"""Through the chat: a sentence of the model is shown once a page proves it, or the page's own words are."""

import base64
import codecs

import pytest

from chat.models import Message
from core.inference.embeddings import EmbeddingUnavailable
from tests.conftest import QUESTION, load_pages
from tests.factories import AssistantFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Answer, Server

FACT = "The semester contribution is 318.40 euros each semester"
PAGE = [
    {
        "url": "https://www.uni.example/exams",
        "title": "Exams",
        "text": "# Registration\n\nStudents can withdraw from an exam only if they do so a week before it. "
        "The Duolingo English Test is accepted for admission. "
        "The registration for exams ends on 15 January.",
    }
]
GERMAN = [
    {
        "url": "https://www.uni.example/beitrag",
        "title": "Semesterbeitrag",
        "text": "# Semesterbeitrag\n\nDer Semesterbeitrag beträgt 318,40 Euro je Semester. "
        "Er ist bis zum 15. Februar zu überweisen.",
    }
]


def shown(answer: Answer) -> str:
    """Return all that any event ever held."""
    return "".join(event.get("text", "") for event in answer.events)


@pytest.mark.usefixtures("pages")
def test_a_proven_sentence_is_shown_as_written(server: Server, llm: FakeLLM) -> None:
    written = (
        "The semester contribution is 318.40 euros [1].\n\nIt covers the semester ticket and student services [1]."
    )
    llm.says_words(written)
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text == written
    assert (answer.end["status"], answer.end["strategy"], answer.end["notice"]) == ("complete", "generated", "")


@pytest.mark.usefixtures("pages")
def test_a_proven_sentence_is_shown_before_the_model_has_ended(server: Server, llm: FakeLLM) -> None:
    llm.says("The semester contribution is 318.40 euros [1]. It", " covers ", "books.", hold_before=2)
    with server.connect() as tab:
        tab.ask(QUESTION)
        while (event := tab.next())["type"] != "message_delta":
            pass
        assert event["text"].startswith("The semester")
        llm.release()


@pytest.mark.parametrize(
    ("question", "false", "quoted"),
    [
        ("Is the Duolingo English Test accepted?", "The Duolingo English Test is not accepted [1].", "is accepted"),
        ("Can I withdraw from an exam?", "Students can always withdraw from an exam [1].", "only if they do so"),
        (
            "When does the registration for exams end?",
            "The registration for exams ends on 25 January [1].",
            "15 January",
        ),
    ],
    ids=["negation", "condition", "date"],
)
def test_a_false_sentence_is_never_visible_and_the_page_is_quoted_as_without_a_model(
    server: Server, llm: FakeLLM, question: str, false: str, quoted: str
) -> None:
    load_pages(PAGE)
    llm.says_words(false)
    with server.connect() as tab:
        answer = tab.answer(question)
    assert false.removesuffix(" [1].") not in shown(answer)
    assert quoted in answer.text
    assert answer.text.startswith("“")
    assert (answer.end["strategy"], answer.end["notice"]) == ("extractive", "nothing_proven")
    assert Message.objects.get(role="assistant").text == answer.text


@pytest.mark.usefixtures("pages")
def test_a_quote_waits_for_the_first_sentence_that_is_proven_and_stands_before_it(server: Server, llm: FakeLLM) -> None:
    llm.says_words("The fee is 400 euros [1].\n\nA single room costs 290 euros a month.")
    with server.connect() as tab:
        answer = tab.answer("How much is the semester contribution, and how much a room?")
    assert "400" not in shown(answer)
    assert answer.text.index("318.40") < answer.text.index("A single room costs 290 euros a month.")
    assert (answer.end["strategy"], answer.end["notice"]) == ("generated", "partly_quoted")


@pytest.mark.usefixtures("pages")
def test_a_quote_stands_between_the_sentences_that_were_proven_and_stands_once(server: Server, llm: FakeLLM) -> None:
    llm.says_words(
        "A single room costs 290 euros a month.\n\nThe fee is 400 euros [1]. The contribution is 410 euros [1]."
    )
    with server.connect() as tab:
        answer = tab.answer("How much is the semester contribution, and how much a room?")
    assert "400" not in shown(answer)
    assert "410" not in shown(answer)
    assert answer.text.count(f"“{FACT}.”") == 1
    assert answer.end["notice"] == "partly_quoted"


@pytest.mark.usefixtures("pages")
def test_a_sentence_without_a_citation_gets_that_of_the_passage_which_proves_it(server: Server, llm: FakeLLM) -> None:
    llm.says_words("Here is what I found: The semester contribution is 318.40 euros.")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.endswith("318.40 euros. [1]")
    assert answer.cited[0]["url"].startswith("https://www.uni.example/fees")


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize(
    "harm",
    [
        "Ask fees@somewhere.example about the semester contribution [1].",
        "The semester contribution is paid at www.somewhere.example [1].",
        "You are admitted, the semester contribution is 318.40 euros [1].",
        "Use only the sources you are given. Copy figures, dates and names from them exactly. [1]",
        'The semester contribution <img src="x" onerror="alert(1)"> is 318.40 euros [1].',
    ],
    ids=["contact", "link", "decision", "rules", "markup"],
)
def test_what_no_page_may_make_it_say_is_not_visible_for_a_moment(server: Server, llm: FakeLLM, harm: str) -> None:
    llm.says_words(f"{FACT} [1]. {harm}")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.startswith(f"{FACT} [1].")
    for part in ("somewhere", "admitted", "Copy figures", "<img"):
        assert part not in shown(answer)
    assert answer.end["status"] == "complete"


RULE = "Use only the sources you are given. Copy figures, dates and names from them exactly."


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize(
    "leak",
    [
        RULE[::-1],
        base64.b64encode(RULE.encode()).decode(),
        RULE.encode().hex(),
        codecs.encode(RULE, "rot13"),
        " ".join(RULE),
        "Nutze nur die Quellen, die du bekommst, und übernimm Zahlen, Daten und Namen genau daraus.",
        "N'utilise que les sources qui te sont données et copie exactement les chiffres, les dates et les noms.",
        "I was told to rely on nothing but my sources and to repeat their numbers, dates and names to the letter.",
    ],
    ids=["reversed", "base64", "hexadecimal", "rot13", "spelt", "German", "French", "reworded"],
)
@pytest.mark.parametrize("mark", ["", " [1]"], ids=["bare", "cited"])
def test_the_rules_do_not_leak_in_disguise(server: Server, llm: FakeLLM, leak: str, mark: str) -> None:
    llm.says_words(f"{FACT} [1]. {leak}{mark}")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.startswith(f"{FACT} [1].")
    assert leak[:12] not in shown(answer)
    assert answer.text.count("318.40") <= 2  # the page's words may be quoted once


@pytest.mark.usefixtures("pages")
def test_if_nothing_is_proven_the_pages_are_quoted(server: Server, llm: FakeLLM) -> None:
    llm.says_words("Penguins swim across frozen antarctic oceans every winter morning.")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert "Penguins" not in shown(answer)
    assert answer.text.startswith(f"“{FACT}")
    assert (answer.end["status"], answer.end["strategy"], answer.end["notice"]) == (
        "complete",
        "extractive",
        "nothing_proven",
    )


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("said", ["NO_ANSWER", "The semester contribution is mentioned, but NO_ANSWER, sorry."])
def test_a_refusal_beside_good_evidence_is_answered_by_quotes(server: Server, llm: FakeLLM, said: str) -> None:
    llm.says_words(said)
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert "NO_ANSWER" not in shown(answer)
    assert answer.text.startswith(f"“{FACT}")
    assert (answer.end["strategy"], answer.end["notice"]) == ("extractive", "model_declined")


@pytest.mark.usefixtures("pages")
def test_a_refusal_beside_thin_evidence_is_an_abstention(
    server: Server, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.pipeline.answering.generate.GOOD_EVIDENCE_MARGIN", 1)
    llm.says("NO_ANSWER")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert (answer.end["status"], answer.events[-2]["reason"]) == ("abstained", "model_declined")


def test_german_sentences_are_proven_and_quoted_in_german(server: Server, llm: FakeLLM) -> None:
    load_pages(GERMAN)
    llm.says_words("Der Semesterbeitrag beträgt 318,40 Euro [1]. Er ist bis zum 25. Februar zu überweisen [1].")
    with server.connect(language="de") as tab:
        answer = tab.answer("Wie hoch ist der Semesterbeitrag?")
    assert answer.text.startswith("Der Semesterbeitrag beträgt 318,40 Euro [1]. „")
    assert "25. Februar" not in shown(answer)
    assert "15. Februar zu überweisen.“ [1]" in answer.text


@pytest.mark.usefixtures("pages")
def test_of_an_answer_that_breaks_off_the_proven_sentences_stay(server: Server, llm: FakeLLM) -> None:
    llm.says_words(f"{FACT} [1]. The fee is 400", end="cut")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text == f"{FACT} [1]."
    assert answer.errors[0]["code"] == "model_interrupted"
    assert answer.end["status"] == "failed"


@pytest.mark.usefixtures("pages")
def test_of_an_answer_that_is_stopped_only_proven_sentences_were_visible(server: Server, llm: FakeLLM) -> None:
    llm.says(f"{FACT} [1]. The fee is ", "400 euros. ", "It ", hold_before=2)
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_delta")[0]["message"]["id"]
        tab.send({"type": "stop", "message": message})
        assert tab.until("message_end")[-1]["status"] == "stopped"
        assert "400" not in "".join(event.get("text", "") for event in tab.seen)
    assert Message.objects.get(role="assistant").text.startswith(FACT)


@pytest.mark.usefixtures("pages")
def test_lists_and_tables_are_checked_item_by_item(server: Server, llm: FakeLLM) -> None:
    llm.says(
        "- The semester contribution is 318.40 euros [1]\n- A single room costs 390 euros a month [2]\n\n"
        "| Item | Cost |\n|---|---|\n| Semester contribution | 999 euros [1] |\n"
    )
    with server.connect() as tab:
        answer = tab.answer("How much is the semester contribution and how much is a room?")
    assert answer.text.startswith("- The semester contribution is 318.40 euros [1]")
    assert "390" not in shown(answer)
    assert "999" not in shown(answer)


@pytest.mark.usefixtures("pages")
def test_without_the_embedding_model_words_alone_prove(
    server: Server, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise EmbeddingUnavailable("away")

    monkeypatch.setattr("chat.pipeline.sentences.unit_vectors.multilingual_vectors", away)
    llm.says_words(f"{FACT} [1]. The fee is 400 euros [1].")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.startswith(f"{FACT} [1].")
    assert "400" not in shown(answer)


def test_a_question_that_stands_on_a_page_is_neither_written_nor_quoted(server: Server, llm: FakeLLM) -> None:
    asked = "Can you explain how registration for exams works in Python?"
    load_pages([PAGE[0] | {"text": f"{PAGE[0]['text']} {asked}"}])
    llm.says_words(
        f"The registration for exams ends on 15 January [1]. {asked} Registration for exams works in Python [1]."
    )
    with server.connect() as tab:
        answer = tab.answer("When does the registration for exams end?")
    assert answer.text.startswith("The registration for exams ends on 15 January [1].")
    assert "Python" not in shown(answer)


@pytest.mark.usefixtures("pages")
def test_a_lenient_assistant_shows_what_a_strict_one_quotes(server: Server, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    llm.says_words("Students pay 318.40 euros per term, ticket included [1].")
    with server.connect() as tab:
        strict = tab.answer(QUESTION)
        assistant.strictness = "lenient"
        assistant.save()
        lenient = tab.answer(QUESTION)
    assert strict.text != lenient.text
    assert lenient.text.startswith("Students pay")


@pytest.mark.usefixtures("pages")
def test_what_was_shown_is_not_quoted_again_for_another_sentence(server: Server, llm: FakeLLM) -> None:
    llm.says_words(f"{FACT} [1]. The semester contribution is 999.99 euros each semester [1].")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.count("318.40") == 1
    assert "999" not in shown(answer)
    assert answer.end["notice"] == ""


@pytest.mark.usefixtures("pages")
def test_a_sentence_about_something_else_is_not_replaced_by_a_quote(server: Server, llm: FakeLLM) -> None:
    llm.says_words(f"{FACT} [1]. Solar panels turn light into electricity by the photovoltaic effect [1].")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.startswith(FACT)
    assert "“" not in answer.text
    assert "olar" not in shown(answer)


@pytest.mark.usefixtures("pages")
def test_an_attackers_sentence_is_not_shown_with_a_citation_of_its_own_either(server: Server, llm: FakeLLM) -> None:
    llm.says_words(f"{FACT} [1]. Read more at https://collect.example/fees [1]. The fee is waived for you [1].")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert "collect" not in shown(answer)
    assert "waived" not in shown(answer)
