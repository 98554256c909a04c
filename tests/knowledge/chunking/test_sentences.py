"""Sentence ends in English and German prose and in lines of Markdown."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking.sentences import sentence_spans, split_sentences


@pytest.mark.parametrize(
    "text",
    [
        "Bring your papers, e.g. your ID, i.e. a passport.",
        "Bring papers (e.g. Birth certificates) along.",
        "Nötig sind z. B. Zeugnisse, d. h. Kopien, i. d. R. Beglaubigungen.",
        "Nötig sind z.B. Zeugnisse.",
        "Ask Dr. Smith or Prof. Dr. Müller in St. Gallen.",
        "Es gilt Nr. 3 in Art. 5 Abs. 2 der Ordnung.",
        "See No. 5 and Fig. 2 on p. 7.",
        "The fee is approx. 300 EUR, ca. 3.5 Prozent or 1.234,50 Euro.",
        "Die Frist endet am 15. Juli, die andere am 1. Oktober 2025.",
        "Die Frist endet am 15.07. Mitternacht.",
        "Das 3. Semester und der XIV. Kongress beginnen.",
        "Beginn ist um 10.30 Uhr in der Hauptstr. 5.",
        "See https://www.uni-marburg.de/de/a.b?c=d.e for more.",
        "Write to max.m.muster@uni-marburg.de or www.uni-marburg.de today.",
        "Der Ph.D. Studiengang und das U.S. Visum.",
        "J. R. R. Tolkien wrote it.",
        "Univ.-Prof. Dr.-Ing. Emma Noether und Dr. rer. nat. Carla Gauß.",
        "Dean is Prof. Dr. med. Ada Lovelace, and before her Dr. med. dent. Alan Turing.",
        "Mit Dr. phil. Emma Noether, Dr. theol. Carl Gauß und Dr. rer. medic. Grete Hopper.",
        "Die apl. Prof. Hopper und Prof. em. Dr. Dr. h. c. mult. Turing lehren.",
        "Sprechstunde: (Mag. Müller), Priv.-Doz. Schulz und Prof. i. R. Gauß.",
        "Ist das so? fragte sie.",
        "Geöffnet Mo. 10 Uhr, Mi. 12 Uhr.",
        "Gebühren usw. werden fällig ... oder nicht.",
        "Semester 1: Welcome to the garden! (12); Law (6)",
        "1. The first item",
        "a) The first item",
    ],
)
def test_a_dot_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert split_sentences(text) == [text]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One.", "Two!", "Three?", "Four…", "Five"],
        ["Die Frist endet am 15. Juli.", "Danach ist Schluss."],
        ["Sie endet am 15.", "Die andere nicht."],
        ["That was in 2024.", "Now it is over."],
        ["The answer is no.", "Then go."],
        ["Das kostet 3.5 Euro.", "15 Personen zahlen."],
        ["See https://x.de/a.html.", "Then write to a.b@x.de.", "Done."],
        ['He said "Go."', "(They went.)", "„Gut.“", "Ende."],
        ["**Wichtig.**", "*Bis zum 15. Juli.*", "[Formular](https://x.de/a.pdf).", "Danach nicht."],
        ["Sie hat einen Ph.D.", "Der Titel gilt."],
        ["Es beginnt um 10.30 Uhr.", "Öffnung später."],
        ["Really?!", "Yes."],
        ["She likes math.", "Then she reads for med.", "Ask her vet."],
        ["Er tut, was er mag.", "Dann geht er."],
        ["Ask Prof. Turing.", "He knows."],
    ],
)
def test_sentences_are_told_apart(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences
    assert split_sentences("\n".join(sentences)) == sentences


def test_wrapped_lines_are_one_sentence() -> None:
    assert split_sentences("Die Frist endet\nam\n15. Juli nach dem\n3. Kapitel. Ende") == [
        "Die Frist endet\nam\n15. Juli nach dem\n3. Kapitel.",
        "Ende",
    ]


def test_blank_lines_part_sentences() -> None:
    assert split_sentences("no stop\n\nhere\n \t\nor here") == ["no stop", "here", "or here"]


def test_list_items_are_units_with_their_wrapped_lines() -> None:
    assert split_sentences("Needed:\n- one\n  more\n* two. Three\n  1. four\n  more\n2. five\n> - six") == [
        "Needed:",
        "- one\n  more",
        "* two.",
        "Three",
        "1. four\n  more",
        "2. five",
        "> - six",
    ]


def test_table_rows_and_heading_lines_are_units() -> None:
    assert split_sentences("## Fees\n| a | b |\n|---|---|\n| c | d |\nprose") == [
        "## Fees",
        "| a | b |",
        "|---|---|",
        "| c | d |",
        "prose",
    ]


def test_spans_point_into_the_text() -> None:
    assert sentence_spans("  One.  Two. ") == [(2, 6), (8, 12)]


def test_no_words_give_no_sentences() -> None:
    assert split_sentences("") == split_sentences(" \n\n\t") == []


@pytest.mark.parametrize(
    "unit", ["x", ".", ". ", "wort ", "\n", " ", "- a\n", ">", "1.", "(", ")", "| ", "a.)", "Das ist gut. "]
)
@pytest.mark.slow
def test_long_texts_take_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        text, quickest = unit * (length // len(unit)), float("inf")
        for _ in range(3):
            started = time.process_time()
            split_sentences(text)
            quickest = min(quickest, time.process_time() - started)
        return quickest

    # Eight times the text takes eight times as long, where it is not 64 times.
    assert seconds(160_000) < 30 * (seconds(20_000) + 0.001)


pieces = st.lists(
    st.sampled_from(["Word", "word", ".", "!", " ", "\n", "\n\n", "- ", "| ", "# ", "1. ", "z. B. ", "15.", "„", "“"])
    | st.sampled_from(["\t", "\xa0", "\u2028", "\x1c", "\f", "\r\n", "ß", "…", ">"]),
    max_size=40,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(pieces | st.text(max_size=100))
def test_spans_are_in_order_disjoint_and_cover_all_but_space(text: str) -> None:
    end_before = 0
    for start, end in sentence_spans(text):
        assert end_before <= start < end
        assert not text[end_before:start].strip()
        assert text[start:end] == text[start:end].strip()
        end_before = end
    assert not text[end_before:].strip()
