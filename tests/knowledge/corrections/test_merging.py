"""Three-way merges of a text as read, as corrected, and as its source says now."""

import random
import time

import pytest

from knowledge.corrections.merging import By, Words, merge, same_words

PAGE = "# Fees\n\nThe fee is 30 euros.\n\nPay it online.\n\nThere is no late fee.\n\n## Refunds\n\nAsk us.\n"


def merged(corrected: str, new: str, original: str = PAGE) -> tuple[str, list[By]]:
    found = merge(Words("Fees", original), Words("Fees", corrected), Words("Fees", new))
    return found.words.text, [place.by for place in found.places]


def test_changes_with_an_unchanged_paragraph_between_them_are_joined() -> None:
    corrected, new = PAGE.replace("30 euros", "300 euros"), PAGE.replace("no late fee", "a late fee")
    text, by = merged(corrected, new)
    assert text == corrected.replace("no late fee", "a late fee")
    assert by == [By.STAFF, By.SOURCE]


@pytest.mark.parametrize(
    "new",
    [
        PAGE.replace("30 euros", "40 euros"),
        PAGE.replace("Pay it online.", "Pay it at the desk."),  # the next paragraph
        PAGE.replace("# Fees", "# Fees 2027"),  # the heading right above
        PAGE.replace("The fee is 30 euros.\n\n", ""),
        PAGE.replace("Pay it online.\n\n", "Pay it.\n\nDo it online.\n\n"),
    ],
)
def test_changes_that_touch_are_to_be_decided_and_the_correction_stays(new: str) -> None:
    text, by = merged(PAGE.replace("30 euros", "300 euros"), new)
    assert By.TOUCHING in by
    assert "300 euros" in text


def test_a_correction_under_a_heading_that_changed_is_to_be_decided() -> None:
    page = "# Fees\n\n## Winter 2026\n\nPay online.\n\nSee below.\n\nIt is 30 euros.\n"
    corrected = page.replace("30 euros", "300 euros")
    assert merged(corrected, page.replace("2026", "2027"), page)[1] == [By.SOURCE, By.TOUCHING]
    split = page.replace("See below.", "## Summer 2027\n\nSee below.")
    assert By.TOUCHING in merged(corrected, split, page)[1]
    assert merged(page.replace("2026", "2027"), corrected, page)[1] == [By.STAFF, By.SOURCE]


def test_the_same_change_on_both_sides_is_none_to_decide() -> None:
    corrected = PAGE.replace("30 euros", "300 euros")
    assert merged(corrected, corrected) == (corrected, [By.BOTH])
    assert merged(corrected, corrected.replace("\n", "\r\n"))[1] == [By.BOTH]


def test_rows_of_a_table_are_units() -> None:
    table = "| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |\n| 3 | z |\n"
    text, by = merged(table.replace("| x", "| X"), table.replace("| z", "| Z"), table)
    assert text == "| a | b |\n|---|---|\n| 1 | X |\n| 2 | y |\n| 3 | Z |\n"
    assert by == [By.STAFF, By.SOURCE]
    assert merged(table.replace("| x", "| X"), table.replace("| y", "| Y"), table)[1] == [By.TOUCHING]


def test_what_is_added_at_both_ends_stands_in_its_own_paragraph() -> None:
    text, by = merged("First.\n\nA\n\nB\n\nC", "A\n\nB\n\nC\n\nLast.", "A\n\nB\n\nC")
    assert text == "First.\n\nA\n\nB\n\nC\n\nLast."
    assert by == [By.STAFF, By.SOURCE]


def test_a_title_says_what_the_text_is_about() -> None:
    new = Words("Fees 2027", PAGE)
    assert not merge(Words("Fees", PAGE), Words("Fees", PAGE.replace("30", "300")), new).is_clean
    assert not merge(Words("Fees", PAGE), Words("All fees", PAGE), new).is_clean
    renamed = merge(Words("Fees", PAGE), Words("All fees", PAGE), Words("Fees", PAGE.replace("30", "40")))
    assert renamed.is_clean
    assert renamed.words == Words("All fees", PAGE.replace("30", "40"))


def test_blanks_at_the_ends_of_lines_are_no_difference() -> None:
    assert same_words(Words("Fees", "A  \n\nB\n"), Words("Fees ", "A\r\n\r\nB"))
    assert not same_words(Words("Fees", "A\n\nB"), Words("Fees", "A\n\nC"))


def test_a_side_that_changed_nothing_leaves_the_other_one() -> None:
    chance = random.Random(7)
    for _ in range(300):
        original, other = ("".join(chance.choice(["a\n", "b\n\n", "# c\n", "d\n"]) for _ in range(8)) for _ in "12")
        assert same_words(Words("", merged(original, other, original)[0]), Words("", other))
        assert same_words(Words("", merged(other, original, original)[0]), Words("", other))
        assert same_words(Words("", merged(other, other, original)[0]), Words("", other))


def test_half_a_megabyte_is_merged_within_a_second_or_two() -> None:
    lines = [f"Paragraph {n} of a handbook says what it says, and says it at length.\n\n" for n in range(8_000)]
    original = "".join(lines)
    assert len(original) > 500_000
    corrected = original.replace("Paragraph 700 ", "Paragraph seven hundred ")
    new = "".join(line.replace("says", "tells") if n % 3 == 0 else line for n, line in enumerate(lines))
    started = time.monotonic()
    found = merge(Words("", original), Words("", corrected), Words("", new))
    assert time.monotonic() - started < 30  # on a machine that others keep busy; it takes a tenth of that
    assert not found.is_clean
    assert "seven hundred" in found.words.text
    elsewhere = original.replace("Paragraph 10 ", "Paragraph ten ").replace("Paragraph 7900 ", "The last but some ")
    found = merge(Words("", original), Words("", corrected), Words("", elsewhere))
    assert found.is_clean
    assert len(found.places) == 3
