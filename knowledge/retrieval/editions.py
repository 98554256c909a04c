"""Editions in a ranking: of the documents about one matter, the one asked for or the current one comes first."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from core.db.prepared import fetch_all
from knowledge.chunking.periods import Period, without_periods
from knowledge.editions.asked import Asked, Choice, DatedDocument, choose_editions, read_asked
from knowledge.editions.terms import REGULATIONS, Term, name_term
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.tuning import LEAST_EDITION_SHARE
from knowledge.retrieval.types import Scope

EDITIONS = f"""
SELECT document.id, matter.id, matter.title, edition.kind, edition.begins, edition.ends, document.valid_from,
    document.title, document.term <> ''
FROM knowledge_edition AS edition JOIN knowledge_document AS document ON document.id = edition.document_id
JOIN knowledge_editiongroup AS matter ON matter.id = edition.group_id
WHERE edition.kind <> '' AND edition.group_id IN (
    SELECT found.group_id FROM knowledge_edition AS found WHERE found.document_id = ANY(%(documents)s::bigint[])
) AND {IN_SCOPE}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Missing:
    """A matter of which no edition is of the term asked for: its title, the terms asked for, and those there are."""

    title: str
    asked: tuple[Term, ...]
    there: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class EditionsFound:
    """The groups of editions that a ranking's documents are in.

    `titles` are those of groups, `own_titles` those of documents without the terms that staff corrected.
    """

    asked: Asked = field(default_factory=Asked)
    group_of: Mapping[int, int] = field(default_factory=dict)
    terms: Mapping[int, Term] = field(default_factory=dict)
    own_titles: Mapping[int, str] = field(default_factory=dict)
    titles: Mapping[int, str] = field(default_factory=dict)
    choices: Mapping[int, Choice] = field(default_factory=dict)

    def wanted(self, document_id: int, periods: Sequence[Period]) -> Sequence[Period]:
        """Return the periods that a passage of this document must be of.

        Regulations have nothing to do with the term that is asked for, nor a term's document with the regulations,
        unless its title names some.
        """
        if (term := self.terms.get(document_id)) is None:
            return periods
        regulations = [each.period for each in self.asked.regulations]
        if term.is_regulations:
            return regulations
        named = self.asked.periods or list(self.asked.dates)
        return [*named, *regulations] if REGULATIONS.search(self.own_titles[document_id]) else named

    def label(self, document_id: int, title: str) -> str:
        """Return the title with the term, in words that are read as it."""
        term = self.terms.get(document_id)
        return f"{self.own_titles[document_id]} {name_term(term, 'en')}" if term else title

    def missing(self, documents: Sequence[int]) -> Missing | None:
        """Return what is missing of the matter that the first of these documents is about, best first."""
        group = self.group_of.get(documents[0]) if documents else None
        if group is None or not self.choices[group].is_missing:
            return None
        there = {self.terms[each] for each, of in self.group_of.items() if of == group}
        are_regulations = any(each.is_regulations for each in there)
        asked = self.asked.regulations if are_regulations else self.asked.terms
        return Missing(self.titles[group], asked, tuple(sorted(there, key=lambda term: -term.begin)))


def find_editions(documents: Collection[int], question: str, scope: Scope) -> EditionsFound:
    """Find the editions of these documents (ids), and choose among those in scope. One query."""
    rows = fetch_all(EDITIONS, scope_parameters(scope) | {"documents": list(documents)})
    if not rows:
        return EditionsFound()
    asked = read_asked(question, scope.on)
    members: dict[int, list[DatedDocument]] = defaultdict(list)
    terms, own_titles, titles = {}, {}, {}
    for document_id, group, title, kind, begins, ends, valid_from, own_title, is_corrected in rows:
        term = Term.between(kind, begins, ends)
        members[group].append(DatedDocument.valid_from(document_id, term, valid_from, own_title))
        terms[document_id], titles[group] = term, title
        own_titles[document_id] = without_periods(own_title) if is_corrected else own_title
    return EditionsFound(
        asked=asked,
        group_of={each.document_id: group for group, found in members.items() for each in found},
        terms=terms,
        own_titles=own_titles,
        titles=titles,
        choices={group: choose_editions(found, asked, scope.on) for group, found in members.items()},
    )


def prefer_editions(
    order: Sequence[int], documents: Mapping[int, int], scores: Mapping[int, float], found: EditionsFound
) -> tuple[list[int], AbstractSet[int]]:
    """Return the passages with those of the chosen editions first among their group, and those that give way, last.

    `documents` has each passage's document, `scores` what it scores without what staff linked to a question: a link to
    an older edition leads to the chosen one.
    """
    of_group: dict[int, list[int]] = defaultdict(list)
    for place, passage in enumerate(order):
        if (group := found.group_of.get(documents[passage])) is not None:
            of_group[group].append(place)
    result, replaced = list(order), set()
    for group, places in of_group.items():
        chosen = found.choices[group].documents
        passages = [order[place] for place in places]
        first = [passage for passage in passages if documents[passage] in chosen]
        others = [passage for passage in passages if documents[passage] not in chosen]
        best = max((scores.get(passage, 0.0) for passage in first), default=None)
        if best is None:
            continue
        replaced |= {passage for passage in others if best >= LEAST_EDITION_SHARE * scores.get(passage, 0.0)}
        for place, passage in zip(places, [*first, *others], strict=True):
            result[place] = passage
    kept = [passage for passage in result if passage not in replaced]
    return [*kept, *(passage for passage in result if passage in replaced)], replaced
