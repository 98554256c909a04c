"""A model's stream made safe: markers, web addresses, verdicts."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.pipeline.answering.citations import CitationProcessor, RefusalDetector
from chat.pipeline.retrieval.candidates import Candidate
from chat.protocol.answer_events import Cited, Delta
from tests.chat.candidates import candidate

CANDIDATES = {number: candidate(number) for number in range(1, 7)}
ADDRESS = re.compile(r"(?:https?://|www\.)\w", re.IGNORECASE)

words = st.sampled_from(["The", "fee", "is", "318.40", "€", "(see", "below)", "–", "Übung", "🎓", "**bold**", "a:b"])
markers = st.sampled_from(["[1]", "[2]", "[6]", "[9]", "[1, 2]", "[2;3]", "[7,1]", "[1][2]", "[0]", "[123]", "[note]"])
addresses = st.sampled_from(
    [
        "https://evil.example/a?b=c",
        "www.evil.example",
        "[click here](https://evil.example/x)",
        "[a b c](/relative path)",
        "![pixel](https://evil.example/p.png)",
        "(https://evil.example)",
        "<https://evil.example>",
    ]
)
ends = st.sampled_from(["", ".", ",", "!"])
spaces = st.sampled_from([" ", " ", "  ", "\n", "\n\n- ", ""])
texts = st.lists(st.tuples(words | markers | addresses, ends, spaces).map("".join), max_size=14).map("".join)
soups = st.lists(
    st.sampled_from(
        [*"[]()!1290,; \n", "https:", "http", "s://", "//", "www", ".", "evil.example", "[1]", "[99]", "w"]
    ),
    max_size=40,
).map("".join)


def resolve(
    pieces: list[str], candidates: dict[int, Candidate] = CANDIDATES
) -> tuple[str, list[tuple[int, int]], list[str]]:
    """(text, [(n, passage)] as cited, the kinds of events in order)."""
    resolver = CitationProcessor(candidates)
    events = [event for piece in pieces for event in resolver.feed(piece)]
    events += resolver.finish()
    text = "".join(event.text for event in events if isinstance(event, Delta))
    cited = [(event.source.n, event.passage_id) for event in events if isinstance(event, Cited)]
    assert [source.n for source in resolver.sources] == [n for n, _ in cited]
    return text, cited, [event.type for event in events]


def cuts(text: str, places: list[int]) -> list[str]:
    at = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(at)]


@given(texts, st.lists(st.integers(0, 1000), max_size=30))
def test_however_a_text_is_cut_it_reads_the_same(text: str, places: list[int]) -> None:
    whole = resolve([text])
    assert resolve(cuts(text, places))[:2] == whole[:2]
    assert resolve(list(text))[:2] == whole[:2]


@given(texts | soups, st.lists(st.integers(0, 1000), max_size=30))
def test_no_text_however_cut_shows_an_address_or_an_unknown_source(text: str, places: list[int]) -> None:
    for pieces in ([text], cuts(text, places), list(text)):
        shown, cited, _kinds = resolve(pieces)
        assert not ADDRESS.search(shown), shown
        assert [n for n, _passage in cited] == list(range(1, len(cited) + 1))
        assert {passage for _n, passage in cited} <= {each.passage_id for each in CANDIDATES.values()}


@pytest.mark.parametrize(
    ("text", "shown", "cited"),
    [
        ("It costs 5 [3]. And 6 [1], [3].", "It costs 5 [1]. And 6 [2], [1].", [(1, 103), (2, 101)]),
        ("Both [2, 4].", "Both [1] [2].", [(1, 102), (2, 104)]),
        ("Both [2;4].", "Both [1] [2].", [(1, 102), (2, 104)]),
        ("Both[2][4].", "Both [1] [2].", [(1, 102), (2, 104)]),
        ("One of them [9, 2].", "One of them [1].", [(1, 102)]),
        ("None [9] [0] [77].", "None.", []),
        ("A list [sic] of [things] and [1", "A list [sic] of [things] and [1", []),
        ("See [the page](https://x.example) [1].", "See the page [1].", [(1, 101)]),
        ("As [1](https://x.example) has it, [2](https://y.example).", "As [1] has it, [2].", [(1, 101), (2, 102)]),
        ("[Both](x) [1, 2][3", "Both [1] [2][3", [(1, 101), (2, 102)]),
        ("Look: https://x.example/a?c=d#e", "Look: ", []),
        ("Not https:[99]//x.example nor w[0]ww.x.example", "Not https: //x.example nor w ww.x.example", []),
        ("Not ht[tps://x.example](y)", "Not ", []),
        ("An ![image](data:abc) here", "An image here", []),
        ("", "", []),
    ],
)
def test_markers_count_by_first_use_and_links_lose_their_target(
    text: str, shown: str, cited: list[tuple[int, int]]
) -> None:
    for pieces in ([text], list(text)):
        assert resolve(pieces)[:2] == (shown, cited)


def test_a_source_is_cited_just_before_the_text_with_its_marker() -> None:
    _text, _cited, kinds = resolve(["One [1] two [2] one [1] end.\n"])
    kinds = [kind for kind, _same in itertools.groupby(kinds)]
    assert kinds == ["message_delta", "citation", "message_delta", "citation", "message_delta"]


def test_two_numbers_of_one_passage_are_one_source() -> None:
    same = {1: candidate(1), 2: candidate(2, passage_id=101)}
    assert resolve(["A [1]. B [2]."], same)[:2] == ("A [1]. B [1].", [(1, 101)])


def test_words_are_shown_while_the_model_still_writes() -> None:
    resolver = CitationProcessor(CANDIDATES)
    assert [event.text for event in resolver.feed("The fee is 31") if isinstance(event, Delta)] == ["The fee is"]


def test_a_bracket_that_never_closes_holds_nothing_back_for_long() -> None:
    resolver = CitationProcessor(CANDIDATES)
    shown = sum(len(event.text) for _ in range(500) for event in resolver.feed("[word ") if isinstance(event, Delta))
    assert shown > 1000


def test_a_very_long_word_is_shown_in_the_end() -> None:
    assert resolve(["x" * 999] * 9)[0].replace(" ", "") == "x" * 8991


# --- verdicts ---


def read(pieces: list[str]) -> tuple[str, bool | None]:
    reader = RefusalDetector()
    text = "".join(map(reader.feed, pieces))
    return text + reader.finish(), reader.declined


@pytest.mark.parametrize(
    "reply", ["NO_ANSWER", " no_answer.", '"NO_ANSWER"', "**NO_ANSWER**\nI found nothing.", "<NO_ANSWER>", "", " \n"]
)
def test_a_refusal_is_recognised_and_shows_nothing(reply: str) -> None:
    assert read(list(reply)) == ("", True)
    assert read([reply]) == ("", True)


@pytest.mark.parametrize("reply", ["No, it is not.", "NO", "NO_", "Yes.", "“No answer” is what [1] says.", "N", "(a)"])
def test_an_answer_that_only_begins_alike_is_an_answer(reply: str) -> None:
    assert read(list(reply)) == (reply, False)
    assert read([reply]) == (reply, False)


@given(st.text(st.sampled_from("NO_ANSWER no_answer \n\"'*.x")), st.lists(st.integers(0, 1000), max_size=30))
def test_however_a_reply_is_cut_its_verdict_is_the_same(reply: str, places: list[int]) -> None:
    text, declined = read([reply])
    assert read(cuts(reply, places)) == (text, declined)
    assert read(list(reply)) == (text, declined)
    if not declined:
        assert text.strip() == reply.strip()
