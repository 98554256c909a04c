"""Markdown as plain text by CommonMark's rules for inline marks, and plain text as Markdown that reads the same."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.chunking.plain_text import escape_marks, make_plain


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("The **fee** is _high_.", "The fee is high."),
        ("It is (5*4) or 5 * 4 euros", "It is (5*4) or 5 * 4 euros"),
        (r"the \*\*sports centre\*\* and 3 \* 4", "the **sports centre** and 3 * 4"),
        (r"a\_b, C:\\temp, C:\temp, 50\% and \[sic\]", r"a_b, C:\temp, C:\temp, 50% and [sic]"),
        ("Open file_name_x and snake_case_", "Open file_name_x and snake_case_"),
        ("__init__.py in `a_*b*` and ``x ` y``", "init.py in a_*b* and x ` y"),
        ("See [the **page**](https://x.example/a_b_c) now", "See the page now"),
        ("See [the page][12] now [1][2] and [3].", "See the page now [1][2] and [3]."),
        ("Room [101 ][5], [2 ][6].", "Room 101, 2."),
        ("![a picture](p.png) here", "a picture here"),
        ("<https://x.example/a*b*c>", "https://x.example/a*b*c"),
        ("Q&amp;A, 5 &lt; 6, &#8364;5, R&D, 5 < 6 and 7 > 2", "Q&A, 5 < 6, €5, R&D, 5 < 6 and 7 > 2"),
        ("`code` and <b>bold</b>", "code and bold"),
        ("# Heading ##\n\ntext #1 in C#", "Heading text #1 in C#"),
        ("> quoted\n> lines", "quoted lines"),
        ("two\n\n  lines  \nand\\\nmore", "two lines and more"),
        ("Bring:\n\n* a card\n- a *photo*\n1. and go", "Bring: - a card - a photo 1. and go"),
        ("2. März ist der *letzte* Tag", "2. März ist der letzte Tag"),
        ("5*4\n\n3*2", "5*4 3*2"),
        ("one\n\n***\n\ntwo", "one two"),
        ("```python\nx = 1\n```", "x = 1"),
        ("| Room | Rent |\n|---|:---:|\n| Double | €235 |", "Room Rent Double €235"),
        ("| Room | Rent | | --- | --- | | Double | €235 |", "Room Rent Double €235"),
        (r"| a \| b | 5*4 | 3*2 |", "a | b 5*4 3*2"),
        ("either | or", "either | or"),
        # Sentences cut out of emphasis.
        ("**Deadline: 15 May.", "Deadline: 15 May."),
        ("Late applications** are refused.", "Late applications are refused."),
        ("*Please come.", "Please come."),
        ("2**3 is 8", "2**3 is 8"),
        ("", ""),
    ],
)
def test_markdown_is_read_without_its_signs(markdown: str, words: str) -> None:
    assert make_plain(markdown) == words


@given(st.text(alphabet=st.sampled_from("ab1 \n\\*_`[]()<>&;|-#~.!é")))
def test_plain_text_is_one_line(markdown: str) -> None:
    text = make_plain(markdown)
    assert text == " ".join(text.split())


@pytest.mark.parametrize(
    "text", ["(5*4) and (3*2)", "**sports**", "a `b` c", "[a](b)", "&amp;", r"C:\*", "x_y_z", "5*4"]
)
def test_plain_text_comes_back_from_markdown(text: str) -> None:
    assert make_plain(escape_marks(text)) == text


@given(st.text(alphabet=st.sampled_from("ab1 \\*_`[]()<>&;~!é")))
def test_any_words_come_back_from_markdown(text: str) -> None:
    words = " ".join(f"a {text} b".split())
    assert make_plain(escape_marks(words)) == words


def test_most_texts_are_not_escaped() -> None:
    for text in ("It costs 5 * 4 euros.", "See file_name_x [1].", "R&D"):
        assert escape_marks(text) == text


def test_long_texts_of_marks_are_read_in_time() -> None:
    began = time.process_time()
    for text in ("*a " * 3000, "[" * 5000, "`" * 5000, "**a _b " * 2000, "<a" * 3000, "|" * 9000, "[a][" * 2000):
        make_plain(text)
    assert time.process_time() - began < 10
