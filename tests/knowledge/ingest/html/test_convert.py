"""`read_html`: pages as universities write them, and what else a server may send."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking.plain_text import make_plain
from knowledge.ingest.html import MAX_BYTES, HtmlPage, Link, UnreadablePage, read_html
from knowledge.ingest.importer import BadRecord, document_record

PAGES = Path(__file__).parents[2] / "pages"
URL = "https://www.uni.example/studium/"


def page(body: str | bytes, *, charset: str = "", url: str = URL) -> HtmlPage:
    return read_html(
        body if isinstance(body, bytes) else body.encode(), url=url, content_type=f"text/html; charset={charset}"
    )


def markdown(body: str) -> str:
    return page(body).markdown


@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.glob("*.html")))
def test_a_university_page_keeps_its_content_and_loses_the_rest(name: str) -> None:
    read = page((PAGES / f"{name}.html").read_bytes(), url=f"{URL}{name}.html")
    assert read.markdown == (PAGES / f"{name}.md").read_text().strip()
    for boilerplate in ("Cookie", "cookies", "Impressum", "Imprint", "Forschung", "Research", "Teilen", "Secret"):
        assert boilerplate not in read.markdown


def test_the_head_says_what_the_page_is() -> None:
    read = page((PAGES / "typo3_de.html").read_bytes())
    assert (read.title, read.language) == ("Bewerbung und Zulassung", "de")
    assert read.canonical == "https://www.uni.example/studium/bewerbung/"
    assert read.favicon == "https://www.uni.example/favicon.ico"
    assert read.open_graph == {"title": "Bewerbung und Zulassung", "image": "/fileadmin/campus.jpg"}
    assert read.modified == datetime(2025, 3, 12, 7, 30, tzinfo=UTC)
    assert page("<meta name=robots content='NOINDEX, nofollow'>x").robots == {"noindex", "nofollow"}
    assert page("<meta name=robots content=none>x").robots == {"noindex", "nofollow"}
    assert page("<p>x").modified is None
    assert page((PAGES / "drupal_en.html").read_bytes()).modified == datetime(2025, 2, 1, tzinfo=UTC)


def test_references_are_those_of_the_content_and_outgoing_links_those_of_the_page() -> None:
    read = page((PAGES / "typo3_de.html").read_bytes())
    assert read.references == (
        Link("Bewerbungsportal", "https://www.uni.example/portal/?lang=de#start"),
        Link("+49 1234 5678", "tel:+4912345678"),
    )
    assert "https://www.uni.example/portal/?lang=de" in read.outgoing
    assert "https://www.uni.example/impressum/" in read.outgoing
    assert not any("login" in url or "#" in url or not url.startswith("http") for url in read.outgoing)
    assert len(set(read.outgoing)) == len(read.outgoing)


def test_an_address_has_one_number_and_a_base_is_heeded() -> None:
    read = page("<base href='/a/b/'><p><a href=c>one</a>, <a href='c'>again</a>, <a href='#x'>here</a>")
    assert read.markdown == "[one][1], [again][1], here"
    assert read.references == (Link("one", "https://www.uni.example/a/b/c"),)


@pytest.mark.parametrize(
    "href",
    ["javascript:alert(1)", " JaVa\nScript:alert(1)", "data:text/html,x", "file:///etc/x", "http://[", "ftp://a/b"],
)
def test_only_web_mail_and_telephone_are_references(href: str) -> None:
    read = page(f'<p>A <a href="{href}">link</a> here')
    assert (read.markdown, read.references, read.outgoing) == ("A link here", (), ())


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>*a* _b_ c_d `e` [f](g) &lt;h&gt; &amp;amp; 5 * 3", r"\*a\* \_b\_ c_d \`e\` \[f](g) \<h> \&amp; 5 * 3"),
        ("<p># a<p>1. b<p>- c<p>&gt; d<p>---", "\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n\n\\---"),
        ("<ol start=3><li>a<ul><li>b</ul><li>c</ol>", "3. a\n   * b\n4. c"),
        ("<pre>a ```\n  b</pre>", "```\na ```\n  b\n```"),
        ("<pre>```\nb</pre>", "````\n```\nb\n````"),
        ("<p>Use <code>a`b</code>, <b> c </b>d", "Use ``  a`b  ``, **c** d".replace("  ", " ")),
        (
            "<table><tr><th>a<th>b<tr><td>1|2<td><ul><li>x<li>y</ul></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | x; y |",
        ),
        ("<p>a<br>b<br><br>c", "a  \nb\n\nc"),
        ("<h2>a <img alt='Foto.jpg' src=x></h2><p><img alt='A green hill' src=y>", "## a\n\nA green hill"),
        ("<p>wait!<a href=x>now</a>", "wait\\![now][1]"),
        ("<h2><button aria-controls=q>Why?</button></h2><div id=q hidden>So.</div>", "## Why?\n\nSo."),
        ("<script>x</script><p hidden>y<p style='display:none'>z<p>a", "a"),
    ],
)
def test_elements_become_markdown(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Prüfungsämter".encode(), ""),
        ("<p>Prüfungsämter".encode(), "iso-8859-1"),
        ("<p>Prüfungsämter".encode("latin-1"), "utf-8"),
        ("<p>Prüfungsämter".encode("latin-1"), "no-such-charset"),
        ("<p>Prüfungsämter".encode("latin-1"), "base64"),
        ("<meta charset=utf-8><p>Prüfungsämter".encode("cp1252"), "windows-1252"),
        ("<meta charset=iso-8859-1><p>Prüfungsämter".encode(), "utf-8"),
        ("<meta charset=iso-8859-1><p>Prüfungsämter".encode("utf-8-sig"), "iso-8859-1"),
        ("<p>Prüfungsämter".encode("utf-16"), "utf-8"),
        ("<p>Prüfungsämter".encode("utf-16-le"), ""),
        (b"<p>Pr&uuml;fungs&auml;mter", ""),
        ("<p>Prü\0fungsämter".encode(), ""),
        ("<p>Prüfungsämter".encode("latin-1"), '"iso-8859-1"; boundary=x'),
        ("<p>Prüfungsämter".encode("latin-1"), "unicode_escape"),
        ("<!-- <meta charset=koi8-r> --><meta charset=latin1><p>Prüfungsämter".encode("latin-1"), ""),
        ("<meta name=description content='charset=koi8-r'><p>Prüfungsämter".encode("latin-1"), ""),
        ('<?xml version="1.0" encoding="iso-8859-1"?><html><p>Prüfungsämter</p></html>'.encode("latin-1"), ""),
    ],
)
def test_umlauts_are_read_whatever_is_said_of_the_charset(body: bytes, charset: str) -> None:
    assert page(body, charset=charset).markdown == "Prüfungsämter"


def test_a_page_is_read_in_the_charset_that_browsers_take_for_the_named_one() -> None:
    assert page("<p>İstanbul’da ğ".encode("cp1254"), charset="iso-8859-9").markdown == "İstanbul’da ğ"
    assert page("<p>学生䶮".encode("gb18030"), charset="gb2312").markdown == "学生䶮"


def test_a_short_main_is_still_the_main_content() -> None:
    more = "<p>What else happens at this university these days.</p>" * 30
    read = page(
        f"<body><div>{more}</div><main><h1>Office</h1><p>Open on Mondays from nine to noon.</p></main></body>".encode()
    )
    assert read.markdown == "# Office\n\nOpen on Mondays from nine to noon."


@pytest.mark.parametrize(
    ("said", "markdown"),
    [
        ("<p>Mo–Fr 9–12, Raum 1.23</p>", "Mo–Fr 9–12, Raum 1.23"),
        ("<ul><li><a href=/a>Antrag auf Urlaub</a></ul>", "* [Antrag auf Urlaub][1]"),
    ],
)
def test_a_main_of_a_line_or_of_links_is_the_main_content_too(said: str, markdown: str) -> None:
    more = "<p>What else happens at this university these days.</p>" * 30
    read = page(f"<body><div>{more}</div><main><h1>Office</h1>{said}</main></body>".encode())
    assert read.markdown == f"# Office\n\n{markdown}"


def test_a_main_of_the_title_alone_is_not_the_main_content() -> None:
    more = "<p>What else happens at this university these days.</p>" * 30
    read = page(f"<body><main><h1>Office</h1></main><div>{more}</div></body>".encode())
    assert "What else happens" in read.markdown


def test_a_page_may_leave_out_its_body() -> None:
    read = page(b"<title>Office</title><main><h1>Office</h1><p>Open on Mondays from nine to noon.</p></main>")
    assert read.markdown == "# Office\n\nOpen on Mondays from nine to noon."


def test_cp1252_and_a_single_damaged_byte_are_read() -> None:
    assert page("<p>10 € – „x“".encode("cp1252"), charset="iso-8859-1").markdown == "10 € – „x“"
    assert page(b"<p>" + "äöü ".encode() * 20 + b"\xff", charset="utf-8").markdown.startswith("äöü äöü")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<p>x" * (MAX_BYTES // 4 + 1), "20,971,5"),
        (b"", "empty"),
        (b" \n\0", "empty"),
        (b"<!doctype html><html><body></body></html>", "no text"),
        (b"<noscript>Enable JavaScript</noscript><div id=root></div><script src=x></script>", "without JavaScript"),
        (b"<frameset><frame src=a.html></frameset>", "frameset"),
        (b"%PDF-1.4 \n%\xe2\xe3", "binary"),
        (bytes(range(256)) * 10, "binary"),
        (b"<div>" * 10_000 + b"x", "nested"),
        (b"<p>x" * 400_000, "300,000 are allowed"),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, message: str) -> None:
    start = time.thread_time()
    with pytest.raises(UnreadablePage, match=re.escape(message)):
        page(body)
    assert time.thread_time() - start < 5


@pytest.mark.parametrize(
    "body",
    [
        b"<div class='nav menu'>" * 1900 + b"x",
        b"<ul><li>x" * 900,
        b"<blockquote>" * 1900 + b"x",
        b"<table><tr><td>" * 400 + b"x",
        b"<table>" + b"<tr><td rowspan=1000>x<td>y" * 5000,
        b"<p>" + b"<a href=x><b>" * 900 + b"x",
    ],
)
def test_pages_built_to_be_slow_are_not(body: bytes) -> None:
    start = time.thread_time()
    read = page(body)
    assert "x" in read.markdown
    assert len(read.markdown) < 100 * len(body)
    assert time.thread_time() - start < 5


def test_broken_html_and_xhtml_are_read() -> None:
    assert markdown("<p>a<b>b</p>c</i><li>d</table>").split() == ["a**b**", "c", "d"]
    xhtml = '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><body><h1>a</h1><p>b<br/>c</p></body></html>'
    read = page('<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>' + xhtml)
    assert (read.markdown, read.language) == ("# a\n\nb  \nc", "de")


PIECES = (
    "<p>|<div>|</div>|<ul>|<li>|</ul>|<ol>|<table>|<tr>|<td>|<th colspan=3>|<td rowspan=9>|</table>|<b>|</b>|<a href=x>"
    "|</a>|<pre>|</pre>|<h1>|</h2>|<dl>|<dt>|<dd>|<details>|<summary>|<main>|<nav>|<br>|<code>|</code>|<blockquote>"
    "|<a role=tab href=#i>|<div id=i>|<button aria-controls=i>|<frameset>|<!-- -->|&amp;|&#0;|*|x|\x02|\ud800"
)


@settings(max_examples=150, deadline=2000)
@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from(PIECES.split("|")), max_size=40).map(
        lambda parts: " ".join(parts).encode("utf-8", "surrogatepass")
    )
)
def test_any_bytes_are_a_page_or_unreadable(body: bytes) -> None:
    try:
        read = page(body)
    except UnreadablePage:
        return
    assert read.markdown.strip()
    assert {int(number) for number in re.findall(r"\]\[(\d+)\]", read.markdown)} <= set(
        range(1, len(read.references) + 1)
    )


def test_an_imported_record_has_its_references_and_the_pages_own_title() -> None:
    record = document_record(
        {
            "url": URL,
            "html": "<html lang=de><title>Gebühren</title><p>Siehe <a href='/x'>hier</a>.<ul><li>a &lt;br&gt; b",
        }
    )
    assert (record.title, record.language) == ("Gebühren", "de")
    assert record.text == "Siehe [hier][1].\n\n* a \\<br> b"
    assert record.metadata["references"] == [{"text": "hier", "url": "https://www.uni.example/x"}]
    assert document_record({"url": URL, "html": "<h1><a href=x>C*</a></h1>x"}).title == "C*"
    with pytest.raises(BadRecord, match="without JavaScript"):
        document_record({"url": URL, "html": "<script>x</script>"})


def test_a_link_whose_words_are_a_number_is_no_number_of_a_source() -> None:
    read = page("<p>Room <a href=/101><b>101</b></a>, <a href=/102>102</a>; sources [1][2]")
    assert read.markdown == "Room [**101**][1], [102 ][2]; sources \\[1]\\[2]"
    assert make_plain(read.markdown) == "Room 101, 102; sources [1][2]"
