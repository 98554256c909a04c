"""The pure parts of the chat: questions, links, prompts, evidence, quotes, tokens."""

import re
import time
import unicodedata
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.core import signing
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from chat.errors import Refused
from chat.models import Message
from chat.pipeline.answering.composition import compose
from chat.pipeline.answering.prompt import Prompt, WindowTooSmall, build_prompt
from chat.pipeline.guardrails.input import clean_question
from chat.pipeline.question import Context, Question, Turn
from chat.pipeline.retrieval.candidates import Candidate, as_source, deep_link
from chat.pipeline.retrieval.evidence import measure_evidence
from chat.pipeline.sentences.quotable import LONGEST, quotable, readable, table_rows
from chat.pipeline.sentences.ranking import rank_parts
from chat.pipeline.tuning import QUOTED_SENTENCES
from chat.pipeline.understanding.rewrite import needs_context
from chat.prompt_template import DECLINE
from chat.protocol.frames import Resume
from chat.sites import session_tokens
from chat.websocket.frames import parse_frame, read_frame
from core.terms import content_words
from core.text import nfc
from knowledge.retrieval.query_vectors import multilingual_vectors
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Hit, Origin, Query
from tests.chat.candidates import candidate

# --- guard ---


@given(st.text(max_size=80))
def test_a_question_that_passes_holds_nothing_that_cannot_be_stored(text: str) -> None:
    try:
        cleaned = clean_question(text, limit=40)
    except Refused as error:
        refusal = error
    else:
        refusal = None
    if refusal:
        assert refusal.code in {"empty_question", "question_too_long", "no_words"}
        assert refusal.detail
        return
    assert 0 < len(cleaned) <= 40
    assert cleaned == cleaned.strip()
    assert not [each for each in cleaned if unicodedata.category(each) in {"Cc", "Cs"} and each not in "\t\n"]
    cleaned.encode()
    assert clean_question(cleaned, limit=40) == cleaned


@pytest.mark.parametrize("text", ["5?", "ü", "问题", "Frage\n\tmit Zeilen", "CS-101", "٣", "a" * 40])
def test_a_question_in_any_script_passes_as_it_is(text: str) -> None:
    assert clean_question(text, limit=40) == text


def test_a_question_that_is_too_long_says_by_how_much() -> None:
    with pytest.raises(Refused) as refusal:
        clean_question("x" * 41, limit=40)
    assert "41" in refusal.value.detail
    assert "40" in refusal.value.detail


@given(st.text(max_size=60) | st.sampled_from(["{", '{"type":"x"}', "NaN", "1e999", '"', "[[]]"]))
def test_any_text_is_a_frame_or_refused(text: str) -> None:
    try:
        frame = read_frame(text)
    except Refused as error:
        frame = {"type": error.code}
    assert isinstance(frame["type"], str)


@pytest.mark.parametrize("value", [None, "", "x", 5, [], {}, True, "0" * 31, b"x"])
def test_an_id_that_is_none_is_refused(value: object) -> None:
    for frame in ({"type": "resume", "conversation": value}, {"type": "resume"}):
        with pytest.raises(Refused, match="bad_frame"):
            parse_frame(frame)


def test_only_a_number_that_can_be_one_is_an_events_number() -> None:
    def after(value: object) -> int | None:
        frame = parse_frame({"type": "resume", "conversation": str(uuid.uuid4()), "after": value})
        assert isinstance(frame, Resume)
        return frame.after

    assert [after(value) for value in (0, 7, -1, 2**53, 1.0, True, "7", None)] == [0, 7, *[None] * 6]


# --- sources ---


@pytest.mark.parametrize(
    ("url", "quoted", "link"),
    [
        ("https://u.example/a", "It costs five euros a year", "https://u.example/a#:~:text=It%20costs%20five%20euros%20a%20year"),
        ("https://u.example/a", "One two three four five six seven eight nine", "https://u.example/a#:~:text=One%20two%20three%20four%20five%20six%20seven%20eight"),
        ("https://u.example/a", "A well-known, odd & long text", "https://u.example/a#:~:text=A%20well%2Dknown%2C%20odd%20%26%20long%20text"),
        ("https://u.example/a", "Für Übung 5 gilt", "https://u.example/a#:~:text=F%C3%BCr%20%C3%9Cbung%205%20gilt"),
        ("https://u.example/a", "Too short", "https://u.example/a"),
        ("https://u.example/a", "", "https://u.example/a"),
        ("https://u.example/a#part", "It costs five euros a year", "https://u.example/a#part"),
    ],
)  # fmt: skip
def test_a_link_leads_to_the_quoted_words_where_it_can(url: str, quoted: str, link: str) -> None:
    assert deep_link(url, quoted) == link


def test_a_source_quotes_the_beginning_of_its_passage_and_no_more_than_fits() -> None:
    source = as_source(candidate(text="A **bold** beginning. " * 40, heading="Part", title="Page"), n=3)
    assert (source.n, source.title, source.heading, source.page) == (3, "Page", "Part", None)
    assert source.quote.startswith("A bold beginning. A bold")
    assert source.quote.endswith(" …")
    assert len(source.quote) < 310


def test_a_link_scrolls_only_to_words_that_stand_on_the_page_in_this_order() -> None:
    marked = candidate(text="The **fee** is five euros a year. It is due in May of every year.")
    assert "#" not in as_source(marked, n=1, quoted="The fee was five euros a year.").url
    assert "#:~:text=It" in as_source(marked, n=1, quoted="It is due in May of every year.").url


# --- prompts ---

passage_texts = st.text(max_size=60) | st.sampled_from(["<<00000000>>", "{fence}", "{}", "%s", "Question:", "\n\n"])


def prompt_for(question: str, sources: Sequence[Candidate] = (), **asked: Any) -> Prompt:
    context = Context(Question(question, **asked), Turn(Message.Route.QUESTION, question))
    context.candidates = list(sources)
    return build_prompt(context)


@given(
    passage_texts, passage_texts, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), passage_texts), max_size=9)
)
def test_no_text_can_close_its_fence(question: str, text: str, history: list[tuple[str, str]]) -> None:
    sources = [candidate(1, text=text), candidate(2, title=text.replace("\n", " "), text=question)]
    prompt = prompt_for(question, sources, institution=text, history=history)
    (fence,) = set(re.findall(r"between two lines of (<<\w+>>):\n", prompt.user)) - set(
        re.findall(r"<<\w+>>", question + text)
    )
    lines = prompt.user.split("\n")
    spoken = [said for _role, said in history[-6:]] if needs_context(question) else []
    # Around the sources and between them, around the question and what was said before.
    assert lines.count(fence) == len(sources) + 1 + 2 + (2 if spoken else 0)
    assert f"{fence}\n{nfc(question)}\n{fence}" in prompt.user
    assert f"{text}\n{fence}" in prompt.user
    assert DECLINE in prompt.user
    assert text in prompt.system


def test_a_fence_cannot_be_known_before() -> None:
    assert len({re.findall(r"<<\w+>>", prompt_for("q").user)[0] for _ in range(20)}) == 20


def test_a_prompt_holds_little_history_and_the_last_of_it() -> None:
    history = [("user", f"message {number} " + "x" * 5000) for number in range(20)]
    user = prompt_for("q", [candidate()], history=history).user
    assert re.findall(r"message (\d+)", user) == ["14", "15", "16", "17", "18", "19"]
    assert len(user) < 6 * 700 + 1500
    assert "conversation so far" not in prompt_for("q").user


def test_what_does_not_fit_goes_from_the_weakest_source_on_and_the_question_stays(settings: Settings) -> None:
    settings.LLM_CONTEXT_TOKENS, settings.LLM_MAX_TOKENS = 1400, 300
    question = "What does the semester cost? " * 5
    sources = [candidate(number, text=f"source {number} " + "many words " * 60) for number in range(1, 9)]
    prompt = prompt_for(question, sources)
    assert question in prompt.user
    assert 1 <= len(prompt.candidates) < 8
    assert [each.number for each in prompt.candidates] == list(range(1, len(prompt.candidates) + 1))
    assert "source 8" not in prompt.user
    settings.LLM_CONTEXT_TOKENS = 1300
    alone = prompt_for(question, [candidate(1, text="many words " * 900)])
    assert question in alone.user
    assert 0 < len(alone.candidates[0].text) < 3000
    settings.LLM_CONTEXT_TOKENS = 600
    with pytest.raises(WindowTooSmall):
        prompt_for(question, sources)


# --- evidence ---


def retrieval(**best: float) -> Retrieval:
    query = Query("q", np.zeros(384, dtype=np.float32), "r")
    runs = {Origin(name): [Hit(101, 11, 1, score, Origin(name))] for name, score in best.items()}
    return Retrieval(text="", query=query, hits=[], runs=runs, timings_ms={})


@given(st.floats(-1, 1), st.floats(-1, 1), st.text(max_size=40), st.text(max_size=40))
def test_evidence_lies_between_nothing_and_everything(dense: float, faq: float, question: str, text: str) -> None:
    assert 0 <= measure_evidence(question, retrieval(dense=dense, faq=faq), [candidate(text=text)]) <= 1


def test_evidence_grows_with_closeness_and_with_the_questions_own_words() -> None:
    far, near = (measure_evidence("parking permit", retrieval(dense=score), [candidate()]) for score in (0.3, 0.6))
    named = measure_evidence("parking permit", retrieval(dense=0.6), [candidate(text="A parking permit costs 5.")])
    assert far < near < named
    assert measure_evidence("parking permit", retrieval(dense=0.3, faq=0.9), [candidate()]) > near


def test_evidence_of_words_alone_is_their_share() -> None:
    assert measure_evidence("parking permit", retrieval(lexical=17.0), [candidate(text="A parking lot")]) == 0.5
    assert measure_evidence("of the", retrieval(lexical=17.0), []) == 0


# --- quotes ---

TABLE = "| Group | Deadline |\n|---|---|\n| EU | 15 May |\n| non-EU | **31 March** |"


@pytest.mark.parametrize(
    ("unit", "passage", "quote"),
    [
        ("| EU | 15 May |", TABLE, "Group: EU; Deadline: 15 May"),
        ("| non-EU | **31 March** |", TABLE, "Group: non-EU; Deadline: 31 March"),
        ("|---|---|", TABLE, ""),
        ("| Group | Deadline |", TABLE, ""),
        ("- Bring your *passport*.", "", "Bring your passport."),
        ("3. Pay the fee.", "", "Pay the fee."),
        ("• Pay the fee.", "", "Pay the fee."),
        ("2027 is the year.", "", "2027 is the year."),
    ],
)
def test_a_quote_reads_as_a_sentence(unit: str, passage: str, quote: str) -> None:
    assert readable(unit, table_rows(passage)) == quote


@given(st.text(st.sampled_from("|-: a\n*\\")), st.text(st.sampled_from("|-: a\n*\\")))
def test_any_unit_can_be_read(unit: str, rest: str) -> None:
    assert "\n" not in readable(unit, table_rows(f"{unit}\n{rest}"))


def best(question: str, *candidates: Candidate, curated: dict[int, Hit] | None = None) -> list[str]:
    rankings = rank_parts(question, candidates, embed=multilingual_vectors, curated=curated or {})
    return [piece.text or piece.shown_table for piece in compose(question, rankings)]


def test_the_sentence_that_answers_is_quoted_first() -> None:
    text = "The canteen serves lunch every day. A parking permit costs 12 euros. Books are lent for four weeks."
    assert best("What does a parking permit cost?", candidate(text=text))[0] == "A parking permit costs 12 euros."


def test_the_table_that_answers_is_shown_first() -> None:
    found = best("What is the deadline for non-EU applicants?", candidate(text=TABLE, heading="Application deadlines"))
    assert found[0] == TABLE.replace("*", "")


def test_what_staff_point_to_is_quoted_before_what_is_as_close() -> None:
    one, two = (candidate(number, text=f"A parking permit costs {number}2 euros.") for number in (1, 2))
    question = "What does a parking permit cost?"
    assert best(question, one, two)[0] == one.text
    assert (
        best(question, one, two, curated={two.passage_id: Hit(two.passage_id, two.document_id, 1, 0.95, Origin.FAQ)})[0]
        == two.text
    )


def test_what_staff_point_to_counts_for_each_part_of_a_question_too() -> None:
    one, two = (candidate(number, text=f"A parking permit costs {number}2 euros.") for number in (1, 2))
    question = "What does a parking permit cost and where do I get it?"
    curated = {two.passage_id: Hit(two.passage_id, two.document_id, 1, 0.95, Origin.FAQ)}
    assert best(question, one, two)[0] == one.text
    assert best(question, one, two, curated=curated)[0] == two.text


def test_an_faq_that_asks_something_else_does_not_choose_the_sentence() -> None:
    page = candidate(text="A parking permit costs 12 euros.\n\nApply for a parking permit at the gate by 1 May.")

    def steered(similarity: float) -> str:
        hint = "Apply at the gate by 1 May."
        hit = Hit(page.passage_id, page.document_id, 1, similarity, Origin.FAQ, confidence=1.0, hint=hint)
        return best("What does a parking permit cost?", page, curated={page.passage_id: hit})[0]

    assert "12 euros" in steered(0.66)
    assert "1 May" in steered(0.98)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (
            "Although you have paid, it is blocked if\n\n- you owe library fines,\n- a certificate is missing.",
            [
                "Although you have paid, it is blocked if you owe library fines",
                "Although you have paid, it is blocked if a certificate is missing.",
            ],
        ),
        ("You need:\n\n- Passport\n- Photo", ["Passport", "Photo"]),
        ("- you owe library fines", ["you owe library fines"]),
        (
            "4. Enter the Wi-Fi password. This is a separate password. Visitors ask at the desk.",
            [
                "Enter the Wi-Fi password.",
                "Enter the Wi-Fi password. This is a separate password.",
                "Visitors ask at the desk.",
            ],
        ),
        ("Der Sportpass gilt ein Semester. Er kostet 20 €.", ["Der Sportpass gilt ein Semester. Er kostet 20 €."]),
        ("All is said.\n\nIt rains.", ["All is said.", "It rains."]),
        ("Es gibt zwei Mensen. Diese Seite auf Englisch.", ["Es gibt zwei Mensen.", "Diese Seite auf Englisch."]),
        (f"{'Long ' * 118}one. It is long, too.", ["It is long, too."]),
    ],
)
def test_what_cannot_stand_alone_is_quoted_with_what_it_goes_on_from(text: str, whole: list[str]) -> None:
    assert [quote.shown for quote in quotable(text)][-len(whole) :] == whole


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("Pay in time. See also [the fees](https://www.uni.example/fees) (in German).", ["Pay in time.", ""]),
        ("Diese Seite auf Deutsch: [Fristen](https://www.uni.example/fristen).\n- Mai", ["", "Mai"]),
        ("Contact the [International Office](https://www.uni.example/io).", ["Contact the International Office."]),
        ("- [Language certificates](https://www.uni.example/languages)", ["Language certificates"]),
        (
            "See [a doctor](https://www.uni.example/ill) by the day of the exam.",
            ["See a doctor by the day of the exam."],
        ),
    ],
)
def test_a_sentence_that_only_names_another_page_is_no_quote(text: str, quotes: list[str]) -> None:
    assert [quote.shown for quote in quotable(text)] == quotes


def test_a_sentence_is_not_quoted_again_within_another() -> None:
    text = "Enter the Wi-Fi password. This is a separate password for the Wi-Fi."
    assert best("What is the Wi-Fi password?", candidate(text=text)) == [text]


def test_nothing_is_quoted_twice_and_never_more_than_fits() -> None:
    text = "A parking permit costs 12 euros. " * 30 + "Another parking permit costs 13 euros each. " + "x " * LONGEST
    found = best("What does a parking permit cost?", candidate(1, text=text), candidate(2, text=text))
    assert len(found) == len(set(found)) <= QUOTED_SENTENCES
    assert max(map(len, found)) <= LONGEST


@pytest.mark.parametrize("text", ["", "Short.", "|---|---|", "\n\n", "x" * 5000])
def test_a_passage_without_a_sentence_gives_no_quote(text: str) -> None:
    assert best("What does a parking permit cost?", candidate(text=text)) == []
    assert best("What does a parking permit cost?") == []


def test_terms_are_roughly_stemmed_and_figures_stay() -> None:
    assert content_words("Application deadlines for the 2027 intake, 5 ECTS") >= {"deadli", "2027", "5", "ects"}
    assert "the" not in content_words("the of and")


# --- tokens ---


def test_a_token_brings_back_its_session(settings: Settings) -> None:
    session = session_tokens.Session(uuid.uuid4(), "de")
    assert session_tokens.read(session_tokens.issue(session)) == session


@given(st.text(max_size=30) | st.none() | st.integers() | st.lists(st.text(), max_size=2))
def test_no_other_value_is_a_token(value: object) -> None:
    with pytest.raises(session_tokens.InvalidToken, match="session_required"):
        session_tokens.read(value)


@given(st.integers(0, 10_000), st.characters())
def test_a_token_changed_anywhere_is_none(place: int, character: str) -> None:
    session = session_tokens.Session(uuid.UUID(int=7), "en")
    token = session_tokens.issue(session)
    place %= len(token)
    changed = token[:place] + character + token[place + 1 :]
    try:
        assert session_tokens.read(changed) == session  # base64's last bits may mean nothing
    except session_tokens.InvalidToken:
        assert changed != token


@pytest.mark.parametrize("content", [[], ["x"], "text", 5, {"a": 1}, ["x", "en"], [1, 2], None, ["0" * 32]])
def test_a_signed_value_of_another_form_is_no_token(content: object) -> None:
    with pytest.raises(session_tokens.InvalidToken, match="session_required"):
        session_tokens.read(signing.dumps(content, salt=session_tokens.SALT))


def test_a_token_signed_for_another_purpose_is_none() -> None:
    content = [uuid.uuid4().hex, "en"]
    with pytest.raises(session_tokens.InvalidToken, match="session_required"):
        session_tokens.read(signing.dumps(content, salt="something.else"))


def test_a_token_expires_and_can_be_renewed_for_a_while(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_tokens.Session(uuid.uuid4(), "en")
    token, now = session_tokens.issue(session), time.time()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + settings.SESSION_TOKEN_SECONDS + 5)
    with pytest.raises(session_tokens.InvalidToken, match="session_expired"):
        session_tokens.read(token)
    assert session_tokens.read(token, max_age=settings.SESSION_TOKEN_SECONDS * 2) == session
