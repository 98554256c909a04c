"""Words of an answer about editions: which one it was made from, and that the one asked for is missing."""

from collections.abc import Iterable, Sequence

from django.utils import translation
from django.utils.translation import gettext as _

from chat.protocol.shapes import Source
from knowledge.chunking.plain_text import escape_marks
from knowledge.editions.terms import Term, name_term, names
from knowledge.retrieval.search import Retrieval

#: Editions that are named where the one asked for is missing.
MOST_NAMED = 4


def missing_note(retrieval: Retrieval | None, language: str) -> str:
    """Return the sentence that the edition asked for is missing, and which there are; empty if it is not."""
    if retrieval is None or (missing := retrieval.missing) is None:
        return ""
    named = {
        "title": escape_marks(missing.title),
        "asked": _listed(missing.asked, language),
        "there": _listed(missing.there[:MOST_NAMED], language),
    }
    with translation.override(language):
        return _("“%(title)s”: there is no edition for %(asked)s, only for: %(there)s.") % named


def name_editions(text: str, sources: Iterable[Source], language: str) -> str:
    """Return the line that names the editions of the sources of an answer, if its text does not; else nothing."""
    marks: dict[str, list[str]] = {}
    for source in sources:
        if source.edition and not names(text, source.edition):
            marks.setdefault(source.edition, []).append(f"[{source.n}]")
    if not marks:
        return ""
    with translation.override(language):
        listed = "; ".join(f"{edition} {' '.join(numbers)}" for edition, numbers in marks.items())
        return _("Edition: %(editions)s.") % {"editions": listed}


def _listed(terms: Sequence[Term], language: str) -> str:
    return ", ".join(name_term(term, language) for term in terms)
