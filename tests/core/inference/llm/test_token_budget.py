"""A prompt always fits, and what is counted is never too little."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from core.inference.embeddings.minilm import TOKENIZER
from core.inference.llm.token_budget import Fit, estimate_tokens, fit

PAGES = sorted((Path(__file__).parents[3] / "knowledge" / "pages").glob("*.md"))
WORDS = {
    language: sorted({word for page in PAGES if language in page.stem for word in page.read_text().split()})
    for language in ("en", "de")
}
CHINESE = "学生必须在每学期开始前缴纳学期费用。图书馆周一至周五开放,早上八点到午夜。"
JAPANESE = "学生は各学期の開始前に学費を支払わなければなりません。図書館は平日の午前八時から開いています。"
KOREAN = "학생은 매 학기 시작 전에 학기 등록금을 납부해야 합니다. 도서관은 평일 오전 8시부터 엽니다."
counts = st.lists(st.integers(0, 400), max_size=12)


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_line_of_a_page_has_more_tokens_than_estimated(count: Callable[[str], int], page: Path) -> None:
    lines = page.read_text().splitlines()
    assert [line for line in lines if estimate_tokens(line) < count(line)] == []
    whole = page.read_text()
    assert count(whole) <= estimate_tokens(whole) <= 2.5 * count(whole)


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, KOREAN], ids=["zh", "ja", "ko"])
def test_no_text_in_east_asian_scripts_has_more_tokens_than_estimated(count: Callable[[str], int], text: str) -> None:
    assert count(text) <= estimate_tokens(text) <= 4 * count(text)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(WORDS["en"]),
            st.sampled_from(WORDS["de"]),
            st.text(st.characters(min_codepoint=0x3041, max_codepoint=0x30FF), max_size=12),
            st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=12),
            st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), max_size=12),
            st.text("0123456789.,;:!?()[]<>/-–„“\"'&%€§", max_size=12),
        ),
        max_size=40,
    ),
    st.sampled_from([" ", "\n", "\n\n", "  "]),
)
def test_no_mix_of_words_figures_and_signs_has_more_tokens_than_estimated(
    count: Callable[[str], int], words: list[str], between: str
) -> None:
    text = between.join(words)
    assert estimate_tokens(text) >= count(text)


@given(st.text())
def test_any_text_is_counted_and_never_as_more_than_its_bytes_and_white_space(text: str) -> None:
    spaces = len(re.findall(r"\s", text))
    assert 0 <= estimate_tokens(text) <= len(text.encode()) + spaces + 1


def test_half_a_surrogate_pair_is_counted_too() -> None:
    assert estimate_tokens("\ud83d") == 3


@given(fixed=st.integers(0, 300), passages=counts, history=counts, room=st.integers(300, 4000))
def test_what_fits_never_exceeds_the_room(fixed: int, passages: list[int], history: list[int], room: int) -> None:
    found = fit(fixed=fixed, passages=passages, history=history, room=room)
    first = passages[:1] if found.first_passage_tokens is None else [found.first_passage_tokens]
    taken = first + passages[1 : found.passages] + history[len(history) - found.history :]
    assert fixed + sum(taken) <= room
    assert found.passages >= min(1, len(passages))


@pytest.mark.slow
@given(fixed=st.integers(0, 300), passages=counts, history=counts, room=st.integers(300, 4000))
def test_nothing_is_left_out_that_would_fit(fixed: int, passages: list[int], history: list[int], room: int) -> None:
    found = fit(fixed=fixed, passages=passages, history=history, room=room)
    if found.passages < len(passages):
        assert fixed + sum(passages[: found.passages + 1]) + sum(history) > room
    if found.history < len(history):
        assert found.passages <= 1  # the weakest passages go first
        assert fixed + sum(passages[:1]) + sum(history[len(history) - found.history - 1 :]) > room
    if found.first_passage_tokens is not None:
        assert (found.passages, found.history) == (1, 0)
        assert found.first_passage_tokens == room - fixed < passages[0]


def test_the_weakest_passages_go_first_then_the_oldest_turns_then_the_end_of_the_last_passage() -> None:
    parts = {"fixed": 100, "passages": [200, 200, 200], "history": [50, 60, 70]}
    assert fit(**parts, room=900) == Fit(3, 3, None)
    assert fit(**parts, room=700) == Fit(2, 3, None)
    assert fit(**parts, room=480) == Fit(1, 3, None)
    assert fit(**parts, room=479) == Fit(1, 2, None)
    assert fit(**parts, room=300) == Fit(1, 0, None)
    assert fit(**parts, room=180) == Fit(1, 0, 80)


def test_the_question_is_never_cut() -> None:
    assert fit(fixed=100, passages=[], history=[], room=100) == Fit(0, 0, None)
    with pytest.raises(ValueError, match="question"):
        fit(fixed=101, passages=[5], history=[], room=100)
