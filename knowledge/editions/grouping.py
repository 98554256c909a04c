"""Groups of editions: found anew when a document is indexed; what staff decided stays."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Left

from core.db.locks import Lock, hold_until_commit
from knowledge.editions.likeness import (
    COMPARED_CHARACTERS,
    Sketch,
    are_editions,
    are_same,
    make_sketch,
    read_series,
    shared_title,
)
from knowledge.editions.terms import Term, first_day, last_day, parse_term, read_term
from knowledge.models import Document, Edition, EditionGroup

#: Documents of one series that are compared. More are a list of something, of which no title tells one from another.
MOST_EDITIONS = 60
#: Documents whose terms are read in one run, for those that were indexed before there were editions.
READ_AT_ONCE = 500


def term_of(edition: Edition) -> Term | None:
    if not edition.kind or edition.begins is None or edition.ends is None:
        return None
    return Term.between(edition.kind, edition.begins, edition.ends)


@transaction.atomic
def place_document(document: Document) -> None:
    """Read the document's term, and find the group of its editions anew, unless staff placed it.

    Archived documents and drafts keep their place: questions do not find them anyway.
    """
    before = Edition.objects.filter(document=document).first()
    term = parse_term(document.term) if document.term else None
    if document.term == "" and not document.is_written_answer:
        titles = dict.fromkeys((_own_title(document), document.title))
        terms = (read_term(title=title, url=document.url, text=document.text) for title in titles)
        term = next(filter(None, terms), None)
    series = _series(document, term) if term else ""
    if before and series == before.series == "" and term_of(before) == term:
        return
    former = before.series if before else ""
    if series or former:
        hold_until_commit(Lock.EDITIONS)
    values = {
        "kind": term.kind if term else "",
        "begins": first_day(term.begin) if term else None,
        "ends": last_day(term) if term else None,
        "series": series,
    }
    Edition.objects.update_or_create(document=document, defaults=values)
    for each in {series, former} - {""}:
        _group_series(each)
    if former != series:
        if not series:
            Edition.objects.filter(document=document, is_by_staff=False).update(group=None)
        drop_small_groups()


def place_pending() -> int:
    """Read the terms of documents that were indexed before there were editions; return how many there were."""
    waiting = Document.objects.filter(edition=None).order_by("pk")[:READ_AT_ONCE]
    for document in waiting:
        place_document(document)
    return len(waiting)


def drop_small_groups() -> None:
    """Delete groups that have fewer than two documents left."""
    counted = EditionGroup.objects.annotate(count=Count("editions")).filter(count__lt=2)
    EditionGroup.objects.filter(pk__in=list(counted.values_list("pk", flat=True))).delete()


def _own_title(document: Document) -> str:
    """Return a title without what was added to tell the document from its other editions."""
    own = str(document.metadata.get("own_title") or "")
    return own if own and document.title.startswith(own) else document.title


def _series(document: Document, term: Term) -> str:
    return read_series(
        collection=document.collection_id,
        language=document.language,
        audience=document.audience,
        title=_own_title(document),
        url=document.url,
        term=term,
    )


def _group_series(series: str) -> None:
    """Group the documents of one series that are alike; those that staff took out of their group stay out."""
    rows = Edition.objects.filter(series=series).exclude(group=None, is_by_staff=True)
    rows = rows.annotate(text=Left("document__text", COMPARED_CHARACTERS)).order_by("begins", "document_id")
    found = list(rows.select_related("document", "group").defer("document__text")[: MOST_EDITIONS + 1])
    texts = {each.pk: each.text for each in found}
    clusters = [] if len(found) > MOST_EDITIONS else list(_clusters(found, texts))
    kept: set[int] = set()
    for cluster in clusters:
        group = _group_for(cluster, taken=kept)
        kept.add(group.pk)
        members = [each.pk for each in cluster if not each.is_by_staff]
        Edition.objects.filter(pk__in=members).exclude(group=group).update(group=group)
    grouped = {each.pk for cluster in clusters for each in cluster}
    alone = [each.pk for each in found if each.pk not in grouped and not each.is_by_staff]
    if len(found) > MOST_EDITIONS:
        Edition.objects.filter(series=series, is_by_staff=False).update(group=None)
    elif Edition.objects.filter(pk__in=alone).exclude(group=None).update(group=None):
        drop_small_groups()


def _group_for(cluster: list[Edition], *, taken: set[int]) -> EditionGroup:
    """Return the group that most of them are in, that of staff first, or a new one."""
    groups = [each.group for each in cluster if each.group and each.group.pk not in taken]
    groups.sort(key=lambda group: (not group.is_by_staff, group.pk))
    if groups:
        return groups[0]
    document = cluster[-1].document
    return EditionGroup.objects.create(collection_id=document.collection_id, title=shared_title(_own_title(document)))


def _clusters(editions: Sequence[Edition], texts: Mapping[int, str]) -> Iterator[list[Edition]]:
    """Yield the documents that are editions of one another, at least two; each is compared with the one before it."""
    sketches = {each.pk: make_sketch(url=each.document.url, text=texts[each.pk]) for each in editions}
    clusters: list[list[Edition]] = []
    for each in editions:
        home = next((cluster for cluster in clusters if _belongs(each, cluster, sketches)), None)
        if home is None:
            clusters.append([each])
        else:
            home.append(each)
    for cluster in clusters:
        if len({_span(each) for each in cluster}) > 1 and not _is_ambiguous(cluster, sketches):
            yield cluster


def _belongs(edition: Edition, cluster: list[Edition], sketches: dict[int, Sketch]) -> bool:
    own = sketches[edition.pk]
    if any(each.group_id and each.is_by_staff and each.group_id == edition.group_id for each in cluster):
        return True
    return any(
        are_editions(own, sketches[each.pk]) if _span(each) != _span(edition) else are_same(own, sketches[each.pk])
        for each in reversed(cluster)
    )


def _is_ambiguous(cluster: Iterable[Edition], sketches: dict[int, Sketch]) -> bool:
    """Return whether two different documents are of one term: it cannot be told whose editions the others are."""
    first: dict[object, Edition] = {}
    for each in cluster:
        other = first.setdefault(_span(each), each)
        if other is not each and not are_same(sketches[each.pk], sketches[other.pk]):
            return True
    return False


def _span(edition: Edition) -> tuple[object, object]:
    return edition.begins, edition.ends
