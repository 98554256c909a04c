"""What reads texts of strangers takes time in proportion to their length, whatever stands in them."""

from collections.abc import Callable

import pytest

from analytics.privacy import mask_pii, remove_pii
from chat.pipeline.answering.citations import CitationProcessor, last_sentence
from chat.pipeline.guardrails.addresses import emails, links, phones, without_links
from chat.pipeline.guardrails.disguises import leads
from chat.pipeline.guardrails.eligibility import decisions, may_decide
from chat.pipeline.guardrails.figures import figures
from chat.pipeline.retrieval.candidates import references
from knowledge.chunking.chunker import cut
from knowledge.chunking.page_markers import without_markers
from knowledge.chunking.sentences import sentences, spoken
from knowledge.guardrails.injection import flag_document, flag_injection
from knowledge.ingest.html.convert import read_html
from knowledge.ingest.html.escaping import split_lines, wrap_in_marks
from knowledge.rendering import render_markdown
from tests.growth import grows_linearly

#: Every reader with every kind of text: a minute and a half.
pytestmark = pytest.mark.slow

PAGE = "https://www.uni.example/"
READERS: dict[str, Callable[[str], object]] = {
    "links": lambda text: [*links(text)],
    "without links": without_links,
    "e-mail addresses": lambda text: [*emails(text)],
    "telephone numbers": lambda text: [*phones(text)],
    "decisions": decisions,
    "possible decisions": may_decide,
    "disguised addresses": lambda text: [*leads(text)],
    "figures": figures,
    "a question's signs": flag_injection,
    "a passage's signs": flag_document,
    "a page's references": lambda text: references(text, PAGE),
    "a model's markers": lambda text: [*CitationProcessor({}).feed(text)],
    "the last sentence": last_sentence,
    "masking": mask_pii.__wrapped__,
    "masking by what was said": lambda text: remove_pii(text, ["My name is Anna Schmidt."]),
    "a page in HTML": lambda text: read_html(f"<main><p>{text}</p></main>".encode(), url=PAGE),
    "emphasis": lambda text: wrap_in_marks(f"a{text}b", "**", "**"),
    "lines": split_lines,
    "passages": lambda text: cut(text, limit=200, measure=lambda piece: len(piece) // 4),
    "sentences": sentences,
    "what an embedder reads": spoken,
    "pages of a PDF": without_markers,
    "a rendered answer": render_markdown,
}
PIECES = [
    *("a", "aaaa@", "@a@a", "a@a.", "a.a", "a-", "a_", "www.a.", "http://a.a.a.a", "http://", "A ", "my name is "),
    *(" ", "\t", " \n", "\n", "1", "1 ", "1.", "1-", "0", "+", "§ ", "%41", "&a;"),
    *("[", "]", "[[", "](", "[a](", "![a](", "![", "[1]", "[1, ", "\\[", "(", "<", "<<<<", "<a ", "<!--", "</"),
    *("#", "# ", "=", "*", "_", "`", "|", "| a ", "{{", "@", "- ", "> ", '"'),
]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_time_grows_with_the_length(reader: str, piece: str) -> None:
    def text(size: int) -> str:
        return "x" + (piece * size)[:size] + "!"

    assert grows_linearly(READERS[reader], text, 5_000), reader
