"""Passages as sources of an answer: loaded, numbered, linked."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from django.utils import timezone

from chat.protocol.shapes import Link, Source
from core.db.prepared import fetch_all
from faqs.answers.signature import sign
from knowledge.chunking.leads import find_lead
from knowledge.chunking.numbered_links import find_numbered, list_addresses, without_numbers
from knowledge.chunking.plain_text import make_plain
from knowledge.chunking.recognised import MORE_PAGES, has_recognised_line
from knowledge.editions.terms import Term, name_term, names
from knowledge.retrieval.search import RankedPassage

ASKS_FOR_LINK = re.compile(
    r"\b(?:links?|urls?|hyperlinks?|web ?(?:site|page|address)e?s?|homepage|online form|application form|portal"
    r"|web(?:seiten?|adressen?)|internetseiten?|formulare?|antragsformulare?|online[- ]?antrag|downloads?)\b"
    r"|\bwhere (?:can|do) i (?:find|download|get) (?:the |a |more )?(?:form|page|information|document)"
    r"|\bwo (?:finde|bekomme|gibt) (?:ich|es) (?:das |den |die |ein |mehr )?"
    r"(?:formular|seite|antrag|informationen|dokument)",
    re.IGNORECASE,
)
REFERENCE = re.compile(r"(?<!!)\[(?P<label>[^\[\]\n]{1,200})\]\((?P<url>[^()\s<>]{1,1000})(?:[ \t]+\"[^\"\n]*\")?\)")
MOST = 5


def asks_for_link(question: str) -> bool:
    return bool(ASKS_FOR_LINK.search(question))


def references(markdown: str, base: str) -> tuple[Link, ...]:
    """Read a passage's own links to web pages, each address once; relative ones are resolved against `base`."""
    return _resolved(((link["label"], link["url"]) for link in REFERENCE.finditer(markdown)), base)


def _resolved(links: Iterable[tuple[str, str]], base: str) -> tuple[Link, ...]:
    """Resolve links of (words in Markdown, address)."""
    found: dict[str, Link] = {}
    for words, address in links:
        try:
            url = urljoin(base, address)
            parts = urlsplit(url)
        except ValueError:  # not an address
            continue
        label = make_plain(words)
        if parts.scheme in {"http", "https"} and parts.hostname and label:
            found.setdefault(url, Link(label, url))
    return tuple(found.values())[:MOST]


QUOTE_CHARACTERS = 300
#: Stands between a title and the headings under it.
BETWEEN = " › "
FRAGMENT_WORDS = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A retrieved passage that an answer may cite; `number` is what the model sees, from 1.

    `text` begins with the line that leads to it, if the passage before it ends with that.
    `rank` is its place in what was found, from 1; it stays when the sources are chosen and numbered anew.
    """

    number: int
    passage_id: int
    document_id: int
    title: str
    url: str
    heading: str
    text: str
    page: int | None = None
    audience: tuple[str, ...] = ()
    language: str = "en"
    #: The day on which the page was read last, or staff checked their own answer; empty where it is not known.
    checked_on: str = ""
    #: Who answers, if the passage is of an answer in staff's own words.
    signature: str = ""
    #: Links that stand in the document by number; the text has only their words.
    links: tuple[Link, ...] = ()
    rank: int = 0
    #: The term that its document is the edition of, where there are several: "Winter term 2025/26".
    edition: str = ""
    is_edition_in_title: bool = False
    #: OCR has read it, or a part of it, off a picture.
    read_by_ocr: bool = False

    @property
    def full_title(self) -> str:
        """The title with the edition, if it does not name it."""
        parts = (self.title, "" if self.is_edition_in_title else self.edition)
        return BETWEEN.join(part for part in parts if part)

    @property
    def label(self) -> str:
        return BETWEEN.join(part for part in (self.full_title, self.heading) if part).replace("\n", " ")


SOURCES = f"""
SELECT passage.id, passage.document_id, document.title, document.url, passage.heading_path, passage.text, passage.page,
    document.audience, split_part(document.language, '-', 1), document.is_written_answer,
    CASE written.language WHEN 'de' THEN faq.office_de ELSE faq.office_en END, faq.answer_checked_on,
    (SELECT max(seen_at) FROM knowledge_sourcepage AS seen WHERE seen.document_id = document.id),
    CASE WHEN position('][' IN passage.text) > 0 THEN (document.metadata->'references')::text END,
    edition.kind, edition.begins, edition.ends,
    (SELECT jsonb_path_query_array(jsonb_agg(picture.lines), '$[*][*][0]')::text FROM knowledge_picturepage AS picture
        WHERE picture.document_id = document.id AND picture.state = 'in_text'
        AND picture.page BETWEEN coalesce(passage.page, 0) AND coalesce(passage.page, 0) + {MORE_PAGES}),
    (SELECT before.text FROM knowledge_passage AS before WHERE before.document_id = passage.document_id
        AND before.generation_id = passage.generation_id AND before.position = passage.position - 1
        AND before.heading_path = passage.heading_path AND NOT before.is_withheld)
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
LEFT JOIN faqs_answerpage AS written ON document.is_written_answer AND written.document_id = document.id
LEFT JOIN faqs_faq AS faq ON faq.id = written.faq_id
LEFT JOIN knowledge_edition AS edition ON edition.document_id = document.id AND edition.group_id IS NOT NULL
    AND edition.kind <> ''
WHERE document.status = 'published' AND NOT passage.is_withheld AND passage.id = ANY(%s::bigint[])
"""  # noqa: S608


def load_candidates(hits: Sequence[RankedPassage], *, language: str = "") -> list[Candidate]:
    """Load the hits' passages in their order, numbered from 1, in one query.

    Those that are withheld or no longer published are left out. `language` is the one that editions are named in; where
    it is empty, they are not.
    """
    rows = {row[0]: row for row in fetch_all(SOURCES, [[hit.passage_id for hit in hits]])}
    found = [rows[hit.passage_id] for hit in hits if hit.passage_id in rows]
    return [_candidate(number, row, language) for number, row in enumerate(found, start=1)]


def _candidate(number: int, row: Sequence[Any], spoken: str) -> Candidate:
    passage_id, document_id, title, url, path, text, page, audience, language, *others = row
    is_written, office, checked_on, seen, listed, kind, begins, ends, recognised, before = others
    edition = name_term(Term.between(kind, begins, ends), spoken) if kind and spoken else ""
    day = checked_on if is_written else seen and timezone.localdate(seen)
    lead = find_lead(before, text) if before else ""
    addresses = list_addresses(json.loads(listed)) if listed else []
    return Candidate(
        number=number,
        passage_id=passage_id,
        document_id=document_id,
        title=title,
        url=url,
        heading=BETWEEN.join(part for part in path if part != title),
        text=without_numbers(f"{lead}\n\n{text}" if lead else text, addresses),
        page=page,
        audience=tuple(audience),
        language=language,
        checked_on=day.isoformat() if day else "",
        signature=sign(office, checked_on, language) if is_written else "",
        links=_resolved(find_numbered(text, addresses), url),
        rank=number,
        edition=edition,
        is_edition_in_title=bool(edition) and names(title, edition),
        read_by_ocr=bool(recognised) and has_recognised_line(text, json.loads(recognised)),
    )


def deep_link(url: str, quoted: str, page: int | None = None) -> str:
    """Link to the quoted words by a text fragment (WICG scroll-to-text-fragment), or to a PDF's page (RFC 8118)."""
    if page is not None and "#" not in url:
        return f"{url}#page={page}"
    if "#" in url or not quoted:
        return url
    words = quoted.split()
    if len(words) < 4:
        return url
    start = quote(" ".join(words[:FRAGMENT_WORDS]), safe="").replace("-", "%2D")
    return f"{url}#:~:text={start}"


def as_source(candidate: Candidate, *, n: int, quoted: str = "", question: str = "") -> Source:
    """Describe a cited passage for the student; `quoted` is the sentence meant, else its beginning is quoted.

    The passage's own links come along where the question asks for one.
    """
    text = quoted or make_plain(candidate.text)
    shown = text if len(text) <= QUOTE_CHARACTERS else text[:QUOTE_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return Source(
        n=n,
        title=candidate.title,
        # Only words that stand on the page in this order can be scrolled to.
        url=deep_link(candidate.url, text if text in make_plain(candidate.text) else "", candidate.page),
        heading=candidate.signature or candidate.heading,
        page=candidate.page,
        quote=shown,
        links=(*references(candidate.text, candidate.url), *candidate.links)[:MOST] if asks_for_link(question) else (),
        language=candidate.language,
        checked_on=candidate.checked_on,
        edition=candidate.edition,
        read_by_ocr=candidate.read_by_ocr,
    )
