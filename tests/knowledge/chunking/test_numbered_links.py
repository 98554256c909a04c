"""Links by number, told apart from the numbers of sources."""

import pytest

from knowledge.chunking.chunker import cut
from knowledge.chunking.numbered_links import renumber, without_numbers

OLD, NEW = ["https://a.example/", "https://b.example/"], ["https://b.example/", "https://a.example/"]


@pytest.mark.parametrize(
    ("text", "addresses", "words"),
    [
        ("See [the page][12] and [1][2].", (), "See the page and [1][2]."),
        ("Room [101 ][5].", (), "Room 101."),
        ("Room [101][2] and [102][3].", OLD, "Room 101 and [102][3]."),
        (r"As \[1\]\[2\] say.", OLD, r"As \[1\]\[2\] say."),
    ],
)
def test_numbers_are_links_where_nothing_else_can_be_meant(text: str, addresses: list[str], words: str) -> None:
    assert without_numbers(text, addresses) == words


@pytest.mark.parametrize("text", ["[the page][1], [7 ][1]", "[the page][1], [7][1]"])
def test_a_number_as_words_is_still_a_link_after_numbering_anew(text: str) -> None:
    assert renumber(text, OLD, NEW) == "[the page][2], [7 ][2]"


def test_a_heading_is_named_by_the_words_of_its_links() -> None:
    (chunk,) = cut("# [Fees][3] of [2026 ][4]\n\nThe fee is 300 euros.", limit=100, measure=len)
    assert chunk.heading_path == ("Fees of 2026",)
