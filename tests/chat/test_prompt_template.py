"""Templates of prompts: what is wrong with one is said, and filling one never reads what was filled in."""

from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.prompt_template import (
    BUILT_IN,
    DECLINE,
    MOST_CHARACTERS,
    PERSONA,
    PLACEHOLDERS,
    Template,
    parse,
    placeholder_values,
    render,
    validate,
)

QUESTION = "{fence}\n{sources}\n{fence}\n{fence}\n{question}\n{fence}\nElse say {decline}."
VALUES = {name: name.upper() for name in PLACEHOLDERS}


@dataclass(frozen=True)
class Source:
    number: int
    label: str
    text: str


def template(*, system: str = "Be kind.", question: str = QUESTION) -> Template:
    return Template("v1", system, question)


def values(**changes: object) -> dict[str, str]:
    given_values = {
        "question": "How much?",
        "sources": [Source(1, "Fees", "Five euros."), Source(2, "Housing", "A room.")],
        "history": (),
        "assistant": "Lindi",
        "institution": "the University",
        "persona": "",
        "language": "de",
        "today": date(2026, 10, 5),
        "fence": "<<f00d>>",
    }
    return placeholder_values(**(given_values | changes))  # type: ignore[arg-type]


# --- checking ---


def test_the_built_in_texts_and_the_shortest_ones_are_in_order() -> None:
    assert validate(BUILT_IN) == []
    assert validate(template()) == []


def test_an_unknown_placeholder_is_named_with_those_there_are() -> None:
    (problem,) = validate(template(system="Hello {student}, {student}."))
    assert "“{student}” is no placeholder" in problem
    assert all(f"{{{name}}}" in problem for name in PLACEHOLDERS)


@pytest.mark.parametrize(
    "wrong", ["{question.__class__}", "{sources[0]}", "{today!r}", "{persona:>9}", "{ persona }", "{language:}"]
)
def test_a_placeholder_is_a_name_and_nothing_else(wrong: str) -> None:
    (problem,) = validate(template(system=f"So: {wrong}"))
    assert f"“{wrong}” is more than a name" in problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a { b", "A “{” has no partner. Where a brace itself is meant, write it twice: {{."),
        ("a } b", "A “}” has no partner. Where a brace itself is meant, write it twice: }}."),
        ("{}", "“{}” is no placeholder"),
        ('{"a": 1}', "Where braces themselves are meant, write them twice"),
    ],
)
def test_a_brace_that_is_no_placeholder_is_explained(text: str, said: str) -> None:
    (problem,) = validate(template(system=text))
    assert said in problem


def test_doubled_braces_stand_for_single_ones() -> None:
    doubled = template(system='{{"a": {{{persona}}}}}')
    assert validate(doubled) == []
    assert render(doubled, VALUES)[0] == '{"a": {PERSONA}}'


def test_what_the_question_lacks_is_named_at_once() -> None:
    (problem,) = validate(template(question="Hello."))
    assert "{sources}, {question}, {decline}" in problem


@pytest.mark.parametrize("name", ["sources", "question", "history"])
def test_what_others_wrote_never_stands_among_the_instructions(name: str) -> None:
    (problem,) = validate(template(system=f"Answer {{{name}}}."))
    assert f"{{{name}}} belongs into the question" in problem


@pytest.mark.parametrize(
    ("question", "unfenced"),
    [
        ("{sources}\n{fence}\n{question}\n{fence}\n{decline}", ["sources"]),
        ("{fence}\n{sources}\n{fence}\n{question}\n{decline}", ["question"]),
        ("{fence} {sources} {fence}\n{fence}\n{question}\n{fence} {decline}", ["sources", "question"]),
        ("{fence}\n{sources}\n{fence}\n{sources}\n{fence}\n{question}\n{fence}\n{decline}", ["sources"]),
        ("{fence}\n{question}\n{fence}\n{fence}\n{sources}\n{decline}", ["sources"]),
        ("Fence: {fence}\n{sources}\n{question}\n{fence}\n{decline}", ["sources", "question"]),
    ],
)
def test_sources_and_question_must_stand_in_a_fence(question: str, unfenced: list[str]) -> None:
    problems = validate(template(question=question))
    assert [problem for problem in problems if "must stand between two lines of {fence}" in problem] == [
        f"{{{name}}} must stand between two lines of {{fence}} alone, so that the model takes it for data."
        for name in unfenced
    ]


def test_the_history_has_a_fence_of_its_own() -> None:
    problems = validate(template(question=QUESTION.replace("{sources}", "{history}\n{sources}")))
    assert ["{history} brings lines of {fence} of its own" in problem for problem in problems] == [True]


def test_a_fence_without_its_partner_is_noticed() -> None:
    (problem,) = validate(template(question=QUESTION + "\n{fence}\nBe brief."))
    assert "lacks its partner" in problem


def test_long_texts_are_refused_with_their_length() -> None:
    assert validate(template(system="a" * MOST_CHARACTERS)) == []
    (problem,) = validate(template(system="a" * (MOST_CHARACTERS + 1)))
    assert "6001 characters" in problem


@given(st.text(alphabet="{}ab.!:[]\n ", max_size=60))
def test_any_text_is_either_explained_or_rendered(text: str) -> None:
    rendered = template(system=text)
    if validate(rendered):
        with pytest.raises(ValueError, match="no placeholder"):
            render(rendered, VALUES)
    else:
        assert render(rendered, VALUES)[0] == text.replace("{{", "{").replace("}}", "}")


@given(st.lists(st.sampled_from(["{{", "}}", "text ", "\n", *(f"{{{name}}}" for name in PLACEHOLDERS)])))
def test_parsing_keeps_every_part(parts: list[str]) -> None:
    wanted = "".join({"{{": "{", "}}": "}"}.get(part, part) for part in parts)
    assert "".join(piece.text for piece in parse("".join(parts))) == wanted


# --- filling ---


@given(
    st.dictionaries(
        st.sampled_from(PLACEHOLDERS),
        st.text() | st.sampled_from(["{fence}", "{question}", "{{", "}", "{0.__class__}", "%s", "\\1"]),
    )
)
def test_what_is_filled_in_is_never_read_for_placeholders(hostile: dict[str, str]) -> None:
    given_values = VALUES | hostile
    every = " | ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    system, user = render(Template("v1", every, every), given_values)
    assert system == user == " | ".join(given_values[name] for name in PLACEHOLDERS)


def test_a_value_that_is_missing_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError):
        render(template(), {"sources": "a", "question": "b"})


def test_every_placeholder_has_a_value() -> None:
    assert set(values()) == set(PLACEHOLDERS)


def test_the_built_in_texts_say_who_asks_for_what_in_which_language() -> None:
    system, user = render(BUILT_IN, values())
    assert system.startswith("You are Lindi, who answers students and applicants for the University.")
    assert f"How you speak: {PERSONA}." in system
    assert "Today is Monday, 05 October 2026." in system
    assert "Answer in German" in system
    assert "from the sources in German" in user
    assert user.startswith(
        "Sources, each between two lines of <<f00d>>:\n<<f00d>>\n[1] Fees\nFive euros.\n<<f00d>>\n[2]"
    )
    assert "<<f00d>>\nHow much?\n<<f00d>>" in user
    assert f"Reply {DECLINE} only if" in user


def test_the_instructions_are_the_same_for_every_question_of_a_day() -> None:
    """Servers keep what they computed for messages that begin alike."""
    first = values()
    second = values(question="Another?", sources=[], history=[("user", "Hi")], fence="<<beef>>")
    assert render(BUILT_IN, first)[0] == render(BUILT_IN, second)[0]


def test_an_assistants_own_way_of_speaking_takes_the_place_of_the_usual_one() -> None:
    assert "How you speak: formal, with Sie.\n" in render(BUILT_IN, values(persona="formal, with Sie. "))[0]


line = st.text(st.characters(blacklist_characters="\n"), max_size=30)


@given(st.lists(st.tuples(line, st.text(max_size=40))), st.text(max_size=40), st.lists(st.tuples(line, st.text())))
def test_no_text_can_close_its_fence(
    sources: list[tuple[str, str]], question: str, history: list[tuple[str, str]]
) -> None:
    fence = "<<0123abcd>>"
    given_values = values(
        sources=[Source(n, label, text) for n, (label, text) in enumerate(sources, start=1)],
        question=question,
        history=history,
        fence=fence,
    )
    _system, user = render(BUILT_IN, given_values)
    fences = [text for text in user.split("\n") if text == fence]
    assert len(fences) == max(1, len(sources)) + 1 + 2 + (2 if history else 0)
    for n, (label, text) in enumerate(sources, start=1):
        assert f"{fence}\n[{n}] {label}\n{text}\n{fence}" in user


def test_little_is_told_of_a_long_conversation() -> None:
    history = [("user", f"message {number} " + "x" * 5000) for number in range(20)]
    earlier = values(history=history)["history"]
    assert "message 13 " not in earlier
    assert "message 14 " in earlier
    assert len(earlier) < 6 * 700
    assert values()["history"] == ""
