"""PDFs: what text they become."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from core.language import detect_language, guess_language
from knowledge.chunking.page_markers import without_markers
from knowledge.ingest.pdf.document import read_document
from knowledge.ingest.pdf.extract import open_pdf, read_pages
from knowledge.ingest.pdf.headings.candidates import recognise_kind
from knowledge.ingest.pdf.reader import read_pdf
from knowledge.ingest.pdf.types import Limits, PdfText
from knowledge.ingest.pdf.words import join_lines
from tests.knowledge import pdfs
from tests.knowledge.pdfs import BODY, BOLD, LEFT, PROSE, RIGHT, Sheet, pdf, text_pages

HEADINGS = [f"{number} Section of {pdfs.WORDS[number - 1]}" for number in range(1, 7)]


def read(source: bytes, **options: Any) -> PdfText:
    """Read in this process, which takes a second less than `read_pdf`."""
    pieces: list[str] = []
    text = read_document(BytesIO(source), limits=Limits(), write=pieces.append, **options)
    return replace(text, markdown="".join(pieces))


def markdown(*pages: Callable[[Sheet], None], **options: Any) -> str:
    return read(pdf(*pages), **options).markdown


def flat(text: str) -> str:
    return " ".join(without_markers(text).split())


def test_headings_pages_and_title_of_a_handbook_without_its_running_lines() -> None:
    text = read_pdf(pdfs.handbook())
    assert (text.title, text.language, text.pages, text.warnings) == ("Student Handbook", "en", 6, ())
    for number, heading in enumerate(HEADINGS, start=1):
        page = text.markdown.index(f"<!-- page {number} -->")
        assert page < text.markdown.index(f"\n# {heading}\n") < text.markdown.index(f"\n## {number}.1 Details of ")
    for running in ("Faculty of Letters", "Issue", "Page ", " of 6"):
        assert running not in text.markdown
    assert text.markdown.count("Rule 9: ") == flat(text.markdown).count("hands in the draft of the term") == 3


def test_headings_are_found_without_bookmarks_too() -> None:
    handbook = pdfs.handbook()
    assert read(handbook, use_bookmarks=False).markdown == read(handbook).markdown


def test_bookmarks_make_headings_of_what_does_not_stand_out() -> None:
    def page(sheet: Sheet) -> None:
        for title, level in (("Of fees", 0), ("Of refunds", 1)):
            sheet.paragraph(title)
            sheet.canvas.bookmarkHorizontal(title, 0, sheet.y)
            sheet.canvas.addOutlineEntry(title, title, level=level)
            sheet.paragraph(PROSE[level])

    assert markdown(page) == (f"<!-- page 1 -->\n\n# Of fees\n\n{PROSE[0]}\n\n## Of refunds\n\n{PROSE[1]}\n")


def test_levels_follow_numbers_and_sizes() -> None:
    def page(sheet: Sheet) -> None:
        for text, size in (
            ("I. Allgemeines", 16), ("§ 1 Geltung", 13), ("§ 2 Ziele", 13), ("II. Prüfungen", 16), ("§ 3 Fristen", 13)
        ):  # fmt: skip
            sheet.heading(text, size=size)
            sheet.paragraph(PROSE[0])
        for text in ("1 Anhang", "1.2 Tafel", "1.2.3 Feld"):
            sheet.heading(text, size=11)
            sheet.paragraph(PROSE[1])

    found = [line for line in markdown(page).splitlines() if line.startswith("#")]
    assert found == [
        "# I. Allgemeines", "## § 1 Geltung", "## § 2 Ziele", "# II. Prüfungen", "## § 3 Fristen",
        "### 1 Anhang", "#### 1.2 Tafel", "#### 1.2.3 Feld",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1 Fees", ("number", 1)),
        ("1.2.3 Fees", ("number", 3)),
        ("A.1 Tables", ("number", 2)),
        ("§ 12a Fristen", ("paragraph", 1)),
        ("Chapter 3 Exams", ("chapter", 1)),
        ("Anhang B", ("chapter", 1)),
        ("CHAPTER FIVE", ("chapter", 1)),
        ("Teil der Prüfung", ("", 0)),
        ("IV. Prüfungen", ("roman", 1)),
        ("Fees", ("", 0)),
        ("2026", ("", 0)),
    ],
)
def test_numbering_is_read(text: str, kind: tuple[str, int]) -> None:
    assert recognise_kind(text) == kind


def test_two_columns_are_read_one_after_the_other() -> None:
    left, right = " ".join(PROSE[:12]), " ".join(PROSE[12:24])

    def page(sheet: Sheet) -> None:
        sheet.line("A wide title over both of the columns", size=18, font=BOLD)
        top = sheet.y - 10
        Sheet(sheet.canvas, width=215, y=top).paragraph(left)
        Sheet(sheet.canvas, x=LEFT + 240, width=215, y=top - 3).paragraph(right)

    assert flat(markdown(page)) == f"A wide title over both of the columns {left} {right}"


def test_a_paragraph_goes_on_over_the_page_and_knows_where() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 110
        sheet.paragraph("The fee is due on the first of the month and nobody who pays it later than that will be")

    def second(sheet: Sheet) -> None:
        sheet.paragraph("admitted to an exam before the end of the term. " + PROSE[0])

    assert markdown(first, second) == (
        "<!-- page 1 -->\n\nThe fee is due on the first of the month and nobody who pays it later than that will be"
        f"<!-- page 2 -->\n admitted to an exam before the end of the term. {PROSE[0]}\n"
    )


def test_hyphens_at_line_ends_are_undone_and_real_ones_kept() -> None:
    lines = [
        "Die Prüfungsordnung gilt für alle. Die Prüfungs-", "ordnung regelt die Anmeldung, die Studien-",
        "und Prüfungsleistungen und den Bachelor-", "Studiengang. A well-known rule is well-",
        "known here; the adminis-", "tration keeps COVID-", "19 rules and e-", "mail.",
    ]  # fmt: skip
    joined = join_lines(lines, {"well-known", "prüfungsordnung"})
    assert joined == (
        "Die Prüfungsordnung gilt für alle. Die Prüfungsordnung regelt die Anmeldung, die Studien- und "
        "Prüfungsleistungen und den Bachelor-Studiengang. A well-known rule is well-known here; the administration "
        "keeps COVID-19 rules and e-mail."
    )


def test_hyphens_within_a_pdf() -> None:
    def page(sheet: Sheet) -> None:
        for line in ("Wer sich zur Prüfung an-", "meldet, braucht die Zulas-", "sung des Prüfungsamts."):
            sheet.line(line)

    assert "Wer sich zur Prüfung anmeldet, braucht die Zulassung des Prüfungsamts." in markdown(page)


def test_slanted_letters_keep_the_spaces_between_their_words() -> None:
    def page(sheet: Sheet) -> None:
        for sentence in PROSE[:3]:
            text = sheet.canvas.beginText()
            text.setFont(BODY, 10)
            sheet.y -= 14
            text.setTextTransform(1, 0, 0.34, 1, sheet.x, sheet.y)
            text.textOut(sentence)
            sheet.canvas.drawText(text)

    assert " ".join(PROSE[:3]) in flat(markdown(page))


def test_lists_stay_lists() -> None:
    def page(sheet: Sheet) -> None:
        sheet.paragraph("You need three things:")
        sheet.line("•", indent=8)
        sheet.canvas.drawString(LEFT + 20, sheet.y, "the certificate of the school that you went to, in the")
        sheet.line("original and as a copy", indent=20)
        sheet.line("• a photograph", indent=8)
        sheet.line("1. first of all", above=8)
        sheet.line("2. and then")
        sheet.line("(a) or else")

    assert markdown(page).endswith(
        "You need three things:\n\n- the certificate of the school that you went to, in the original and as a copy\n"
        "- a photograph\n1. first of all\n2. and then\n- (a) or else\n"
    )


ROWS = [["Degree", "Fee", "Due"], ["Bachelor", "318.40 euros", "1 April"], ["Master", "320 euros", "1 May"]]


def test_a_table_becomes_sentences_with_its_caption() -> None:
    def page(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        sheet.line("Table 1: Fees by degree", font=BOLD, above=10)
        sheet.y -= 6
        sheet.table(ROWS, widths=[120, 120, 120])
        sheet.paragraph(PROSE[1])

    assert markdown(page) == (
        f"<!-- page 1 -->\n\n{PROSE[0]}\n\nTable 1: Fees by degree\n\n"
        "- Degree: Bachelor; Fee: 318.40 euros; Due: 1 April\n- Degree: Master; Fee: 320 euros; Due: 1 May\n\n"
        f"{PROSE[1]}\n"
    )


def test_a_caption_below_comes_first_and_a_form_names_its_fields() -> None:
    def page(sheet: Sheet) -> None:
        sheet.table([["Module:", "Algebra"], ["Points:", "9"]], widths=[120, 240], bold_header=False)
        sheet.line("Table 2: A module")
        sheet.paragraph(PROSE[1])

    assert "Table 2: A module\n\n- Module: Algebra\n- Points: 9\n\nRule 2" in markdown(page)


def test_a_table_over_two_pages_keeps_its_header() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 120
        sheet.table(ROWS, widths=[120, 120, 120])

    def second(sheet: Sheet) -> None:
        sheet.table([["Doctor", "290 euros", "1 June"], ["Guest", "100 euros", "1 July"]], widths=[120, 120, 120])

    text = markdown(first, second)
    assert "- Degree: Doctor; Fee: 290 euros; Due: 1 June\n- Degree: Guest; Fee: 100 euros; Due: 1 July" in text


def test_a_table_of_contents_is_left_out() -> None:
    def contents(sheet: Sheet) -> None:
        sheet.heading("Contents", size=16)
        for number in range(1, 7):
            title = f"{number} Section of {pdfs.WORDS[number - 1]}"
            sheet.line(f"{title} {'. ' * (60 - len(title))}{number + 1}")

    def page(number: int) -> Callable[[Sheet], None]:
        def draw(sheet: Sheet) -> None:
            sheet.heading(f"{number} Section of {pdfs.WORDS[number - 1]}", size=16)
            sheet.paragraph(PROSE[number])

        return draw

    text = markdown(contents, *[page(number) for number in range(1, 7)])
    assert "Contents" not in text
    assert ". . ." not in text
    assert text.count("Section of admission") == 1
    assert text.startswith("<!-- page 2 -->\n\n# 1 Section of admission\n")


def test_a_table_of_contents_with_long_titles_is_left_out_whole() -> None:
    def contents(sheet: Sheet) -> None:
        sheet.heading("Contents", size=16)
        for number in range(1, 7):
            sheet.line(f"{number} What is to be done by a student who wants to hand in late? {'. ' * 8}{number + 1}")
        for line in range(1, 5):  # one title over five lines
            sheet.line(f"7 What is to be done by a student of the faculty of letters in case of {pdfs.WORDS[line]}")
        for number in range(1, 7):
            sheet.line(f"or of {pdfs.WORDS[number]}? {'. ' * 40}{number + 9}")

    assert markdown(contents, *text_pages(PROSE[0])) == f"<!-- page 2 -->\n\n{PROSE[0]}\n"


def test_the_line_over_a_chapters_title_belongs_to_it() -> None:
    def page(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        sheet.line("Chapter 2", size=16, font=BOLD, above=20)
        sheet.heading("Fees and refunds", size=22)
        sheet.paragraph(PROSE[1])

    assert f"{PROSE[0]}\n\n# Chapter 2 Fees and refunds\n\n{PROSE[1]}" in markdown(page)


def test_headers_that_name_the_section_go_although_each_is_another() -> None:
    titles = [f"The {thing} and what the rules of the faculty say of it" for thing in pdfs.THINGS[:8]]

    def begins(number: int) -> Callable[[Sheet], None]:
        def draw(sheet: Sheet) -> None:
            sheet.heading(titles[number], size=16, bookmark=0)
            sheet.paragraph(PROSE[number])

        return draw

    def goes_on(number: int) -> Callable[[Sheet], None]:
        def draw(sheet: Sheet) -> None:
            sheet.canvas.setFont(BODY, 8)
            sheet.canvas.drawString(LEFT, pdfs.HEIGHT - 50, f"CHAPTER {number + 1}. {titles[number][:20].upper()} …")
            sheet.canvas.drawRightString(RIGHT, pdfs.HEIGHT - 50, f"{number + 1}.2. DETAILS OF {pdfs.WORDS[number]} …")
            sheet.paragraph(PROSE[number + 10])

        return draw

    text = markdown(*[page(number) for number in range(8) for page in (begins, goes_on)])
    assert "CHAPTER" not in text
    assert all(f"# {title}\n" in text for title in titles)


def test_a_list_of_prices_with_dots_is_no_table_of_contents() -> None:
    def page(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        for number, word in enumerate(pdfs.WORDS):
            sheet.line(f"A card for {word} {'. ' * 30}{number + 20}")

    assert "A card for canteens … 29" in markdown(page)


def test_footnotes_do_not_cut_a_paragraph() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 150
        sheet.paragraph("The fee is due on the first of the month and nobody who pays it later than that will be")
        sheet.line("1 Rules of 2026.", size=7, above=8)

    def second(sheet: Sheet) -> None:
        sheet.paragraph("admitted to an exam. " + " ".join(PROSE[:3]))

    text = markdown(first, second)
    assert "later than that will be<!-- page 2 -->\n admitted to an exam." in text
    assert text.index("1 Rules of 2026.") < text.index("<!-- page 2 -->")


def test_a_text_cannot_forge_a_page() -> None:
    assert "<!-- page 1 -->\n\nSee <! -- page 99 --> for it" in markdown(*text_pages("See <!-- page 99 --> for it."))


def test_the_language_is_guessed() -> None:
    assert guess_language("Die Anmeldung ist bis zum 1. Mai möglich und wird nicht verlängert.") == "de"
    assert guess_language("The registration is open until the first of May.") == "en"
    assert [detect_language(text) for text in ("Wann öffnet die Bibliothek?", "When does it open?", "Deadline?")] == [
        "de",
        "en",
        None,
    ]


def test_everybody_may_open_what_is_encrypted_without_a_password() -> None:
    assert PROSE[0] in flat(read(pdf(*text_pages(PROSE[0]), password="")).markdown)


def test_some_pages_without_text_are_told_of() -> None:
    def picture(sheet: Sheet) -> None:
        from PIL import Image
        from reportlab.lib.utils import ImageReader

        sheet.canvas.drawImage(ImageReader(Image.new("L", (9, 9))), 0, 0, 500, 700)

    assert read(pdf(*text_pages(PROSE[0] * 3, PROSE[1] * 3), picture)).pictures == (3,)


def test_of_a_page_that_was_read_only_its_text_stays_in_memory() -> None:
    drawn = 500_000

    def page(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        sheet.canvas._code.append("%" + "-" * drawn)

    opened = open_pdf(BytesIO(pdf(*[page] * 8)), Limits())
    pages, held = [], []
    tracemalloc.start()
    try:
        for one in read_pages(opened, Limits()):
            pages.append(one)
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert all(one.characters > 50 for one in pages)
    assert held[-1] - held[1] < drawn


def test_of_pages_that_lie_packed_only_the_last_ones_stay_in_memory() -> None:
    ballast, count = 200_000, 30
    source = BytesIO(pdfs.packed_pages(count, ballast=ballast))
    tracemalloc.start()
    try:
        opened = open_pdf(source, Limits())
        pages = list(read_pages(opened, Limits()))
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert [page.lines[0].text for page in pages] == ["Some words on a page"] * count
    assert held < 0.75 * count * ballast


def test_a_page_more_takes_no_more_memory_than_a_few_times_its_text() -> None:
    def held(pages: int) -> tuple[int, int]:
        """Return what is held when the first piece is written, and the letters of all of them."""
        source, at_first, letters = BytesIO(pdf(*text_pages(*[" ".join(PROSE[:12])] * pages))), 0, 0

        def write(piece: str) -> None:
            nonlocal at_first, letters
            if not letters:
                gc.collect()
                at_first = tracemalloc.get_traced_memory()[0]
            letters += len(piece)

        tracemalloc.start()
        try:
            read_document(source, limits=Limits(), write=write)
        finally:
            tracemalloc.stop()
        return at_first, letters

    held(2)  # what is kept for all files is made with the first
    (few, short), (many, long) = held(4), held(24)
    assert long > 5 * short
    assert many - few < 4 * (long - short)
