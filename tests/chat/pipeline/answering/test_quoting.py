"""Answers of the pages' own words: whole tables, several things asked at once, pages in another language."""

from dataclasses import replace

import pytest
from pytest_django import Settings

from chat.pipeline.answering.composition import Piece, compose
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.sentences.parts import split_question
from chat.pipeline.sentences.quotable import LONGEST, Quotable, quotable
from chat.pipeline.sentences.ranking import RankedSentence, rank_parts
from chat.pipeline.tuning import MOST_FURTHER_WORDS, MOST_PROSE_WORDS, MOST_TABLE_ROWS, QUOTE_MARGIN
from core.inference.embeddings.e5.embedder import MULTILINGUAL
from knowledge.models import Document, Source, SourcePage
from knowledge.retrieval.query_vectors import multilingual_vectors
from tests.chat.candidates import candidate
from tests.conftest import PAGES, load_pages
from tests.servers import Server

RENTS = [
    "| Dormitory | Rent |",
    "|---|---|",
    "| Seeblick | €560 |",
    "| Brückenstraße | €235 |",
    "| Alte Weberei | €259 |",
]
HOUSING = candidate(
    title="Student housing",
    heading="Dormitories and rents",
    text="The dormitories belong to the student services.\n\n" + "\n".join(RENTS),
)


def quoted(question: str, *candidates: Candidate) -> list[Piece]:
    return compose(question, rank_parts(question, candidates, embed=multilingual_vectors, curated={}))


@pytest.mark.parametrize("question", ["Which dormitory has the lowest rent?", "Welches Wohnheim ist am billigsten?"])
def test_a_question_that_compares_gets_the_whole_table(question: str) -> None:
    assert tuple(RENTS) in [piece.table for piece in quoted(question, HOUSING)]


def test_a_table_that_was_cut_into_passages_is_shown_whole() -> None:
    parts = [
        candidate(number, document_id=1, title="Housing", heading="Rents", text="\n".join([*RENTS[:2], row]))
        for number, row in enumerate(RENTS[2:], start=1)
    ]
    other = candidate(9, document_id=2, title="Parking", text="\n".join([*RENTS[:2], "| Parkdeck | €30 |"]))
    tables = [piece.table for piece in quoted("Which dormitory has the lowest rent?", *reversed(parts), other)]
    assert tuple(RENTS) in tables


def test_a_row_that_adds_to_a_sentence_is_shown_in_its_table() -> None:
    table = "| Part | Amount |\n|---|---|\n| Ticket of the semester | 156 euros |"
    page = candidate(title="Contribution", text=f"The contribution is 318 euros per semester.\n\n{table}")
    pieces = quoted("How much is the contribution for the semester?", page)
    assert [bool(piece.table) for piece in pieces] == [False, True]


def test_beside_a_table_no_row_of_another_one_on_its_page_is_quoted_but_one_of_another_page_is() -> None:
    other = "| Repair | Rent of the tools |\n|---|---|\n| Seeblick | €5 a day |"
    same = replace(HOUSING, text=f"{HOUSING.text}\n\nTools can be lent.\n\n{other}")
    elsewhere = candidate(2, title="Tools", text=f"Tools can be lent.\n\n{other}")
    question = "What is the rent in Seeblick?"
    assert [bool(piece.table) for piece in quoted(question, same)] == [True]
    texts = [piece.text for piece in quoted(question, HOUSING, elsewhere) if not piece.table]
    assert texts == ["Repair: Seeblick; Rent of the tools: €5 a day"]


def test_a_table_is_shown_without_the_links_and_images_of_its_page() -> None:
    row = "| Seeblick ![x](https://tracker.example/x.png) | [€560](https://evil.example) <img src=x> warm |"
    page = candidate(title="Rents", text="\n".join([*RENTS[:2], row]))
    (table,) = [piece.shown_table for piece in quoted("What is the rent in Seeblick?", page) if piece.table]
    assert table.splitlines()[-1] == "| Seeblick x | €560 warm |"


def test_a_cell_keeps_the_signs_that_are_its_words() -> None:
    page = candidate(title="Rents", text="\n".join([*RENTS[:2], r"| Seeblick \| West | 5*4 \*\*euros\*\* |"]))
    (table,) = [piece.shown_table for piece in quoted("What is the rent in Seeblick?", page) if piece.table]
    assert table.endswith(r"| Seeblick \| West | 5\*4 \*\*euros\*\* |")


def test_a_quote_keeps_the_signs_that_are_words_of_its_page(server: Server) -> None:
    text = r"# Parking\n\nParking costs (5*4) euros at the \*\*sports centre\*\*. Write to park\_desk, not to \[sic\]."
    load_pages([{"url": "https://www.uni.example/parking", "title": "Parking", "text": text.replace(r"\n", "\n")}])
    with server.connect() as tab:
        answer = tab.answer("What does parking cost at the sports centre?")
    assert r"(5\*4) euros at the \*\*sports centre\*\*." in answer.text
    assert "(5*4) euros at the **sports centre**." in answer.cited[0]["quote"]


def test_a_long_table_shows_the_row_that_answers() -> None:
    rows = [f"| Street {number} | €{300 + number} |" for number in range(MOST_TABLE_ROWS + 1)]
    page = candidate(title="Rents", text="\n".join([*RENTS[:2], *rows]))
    first = quoted("What is the rent in Street 7?", page)[0]
    assert (first.text, first.table) == ("Dormitory: Street 7; Rent: €307", ())


def test_each_of_two_things_that_are_asked_is_answered() -> None:
    fee = candidate(1, title="Fees", text="The fee is 318 euros. It is paid online. It covers the ticket.")
    library = candidate(2, title="Library", text="The library opens at 8:00. It has 300 seats. Books are lent.")
    answer = " ".join(
        piece.text for piece in quoted("How much is the fee and when does the library open?", fee, library)
    )
    assert "318 euros" in answer
    assert "8:00" in answer


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When does it start and how much is it?", 2),
        ("What are the terms and conditions?", 1),
        ("Wann beginnt das Semester und wie hoch ist der Beitrag?", 2),
        ("How?", 1),
        ("How long is the thesis? And how much of the final grade is it? I study biology.", 2),
    ],
)
def test_a_question_is_cut_only_where_another_one_begins(question: str, parts: int) -> None:
    assert len(split_question(question)) == parts


def test_prose_is_short_and_what_follows_on_a_page_is_one_quote() -> None:
    text = " ".join(
        f"The parking permit number {number} costs {number}2 euros for each semester." for number in range(30)
    )
    pieces = quoted("What does a parking permit cost?", candidate(text=text))
    assert sum(len(piece.text.split()) for piece in pieces) <= MOST_PROSE_WORDS


def test_a_sentence_that_only_says_the_same_again_is_left_out() -> None:
    fee = candidate(1, title="Fees", text="The contribution is 318 euros per semester. It can be paid online.")
    again = candidate(2, title="Re-registration", text="The semester contribution is 318 euros, see Contribution.")
    said = [piece.text for piece in quoted("How much is the semester contribution?", fee, again)]
    assert sum("318" in text for text in said) == 1


LISTS = [
    {
        "url": "https://www.uni.example/key",
        "title": "Library locker",
        "language": "en",
        "text": "# Locker\n\nTo rent a locker in the library, bring:\n\n- your student card\n- a deposit of 20 euros",
    }
]


def ranking(*, first: int, score: float) -> list[RankedSentence]:
    """Return six sentences of page 1 and one of page 2, which has the `score`; page `first` was found first."""
    sentences = [f"Number {letter * 3} of the sentences about the mailbox is this one here." for letter in "abcdef"]
    pages = [candidate(number, rank=1 if number == first else 2) for number in (1, 2)]
    of_one = [RankedSentence(pages[0], Quotable(each, each), 0, place, 9.0) for place, each in enumerate(sentences)]
    return [*of_one, RankedSentence(pages[1], Quotable(KEPT, KEPT), 1, 0, score)]


KEPT = "Students keep their mailbox 180 days after they leave the university."


def test_the_page_that_was_found_first_is_quoted_too_if_its_sentence_is_close() -> None:
    question = "How long do I keep my mailbox?"
    pieces = compose(question, [ranking(first=2, score=9.0 - QUOTE_MARGIN)])
    assert [piece.text for piece in pieces][-1] == KEPT
    assert sum(len(piece.text.split()) for piece in pieces) <= MOST_PROSE_WORDS
    for other in (ranking(first=1, score=9.0 - QUOTE_MARGIN), ranking(first=2, score=8.9 - QUOTE_MARGIN)):
        assert KEPT not in [piece.text for piece in compose(question, [other])]


def test_only_the_best_sentence_may_be_long() -> None:
    words = [first + second * 3 for first in "bdfgkm" for second in "aeiouyrs"]
    long = " ".join(words[: MOST_FURTHER_WORDS + 1])
    page = candidate()

    def said(*texts: str) -> str:
        ranked = [RankedSentence(page, Quotable(text, text), 0, 2 * place, 9.0) for place, text in enumerate(texts)]
        return " ".join(piece.text for piece in compose("How long do I keep my mailbox?", [ranked]))

    assert said(long, KEPT) == f"{long} {KEPT}"
    assert said(KEPT, long) == KEPT
    assert said(KEPT, long.rsplit(" ", 1)[0]) != KEPT


def test_a_list_that_answers_is_shown_as_a_list_under_its_sentence(server: Server) -> None:
    load_pages([*PAGES, *LISTS])
    with server.connect(language="en") as tab:
        answer = tab.answer("What do I bring to rent a locker in the library?")
    assert (
        "“To rent a locker in the library, bring:” [1]\n\n- your student card\n- a deposit of 20 euros" in answer.text
    )


def test_steps_keep_their_numbers_and_a_list_that_is_cut_says_so() -> None:
    steps = "\n".join(f"{place}. Open the form number {place} and fill in every line of it." for place in range(1, 31))
    first = quotable(f"This is how you apply:\n\n{steps}")[0]
    assert first.items[0] == "1. Open the form number 1 and fill in every line of it"
    assert first.items[-1].endswith(". …")
    assert len(first.text) <= LONGEST


GERMAN = [
    {
        "url": "https://www.uni.example/kita",
        "title": "Kinderbetreuung",
        "language": "de",
        "text": "# Kita\n\nDie Kita kostet ganztags 230 Euro im Monat.",
    }
]


def test_a_page_in_the_other_language_answers_and_the_answer_says_so(server: Server, settings: Settings) -> None:
    settings.EMBEDDING_MODEL = MULTILINGUAL
    load_pages([*PAGES, *GERMAN])
    token = server.session()
    with server.connect(token, language="en") as tab:
        answer = tab.answer("How much does childcare cost a month?")
        conversation = tab.conversation
    assert "230 Euro" in answer.text
    assert "This page is in German:" in answer.text
    with server.connect(token) as tab:
        tab.resume(conversation=conversation)
        saved = tab.next()["messages"][1]
    assert [source["language"] for source in (*answer.cited, *saved["sources"])] == ["de", "de"]


@pytest.mark.usefixtures("pages")
def test_a_source_says_on_which_day_its_page_was_read_last(server: Server) -> None:
    read = Document.objects.get(url=PAGES[0]["url"])
    page = SourcePage.objects.create(
        source=Source.objects.create(name="Website", start_urls=[read.url], collection=read.collection),
        url=read.url,
        document=read,
    )
    SourcePage.objects.filter(pk=page.pk).update(seen_at="2025-02-03T12:00Z")
    token = server.session()
    with server.connect(token, language="en") as tab:
        answer = tab.answer("How much is the semester contribution?")
        conversation = tab.conversation
    with server.connect(token) as tab:
        tab.resume(conversation=conversation)
        saved = tab.next()["messages"][1]
    assert [source["checked_on"] for source in (answer.cited[0], saved["sources"][0])] == ["2025-02-03"] * 2


@pytest.mark.usefixtures("pages")
def test_what_was_asked_before_does_not_answer_another_question(server: Server) -> None:
    with server.connect(language="en") as tab:
        tab.answer("How much is the semester contribution?")
        answer = tab.answer("Who is the dean?")
    assert answer.end["status"] == "abstained"
