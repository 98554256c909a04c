"""The nightly run that compares everything, and the minute run that compares what changed."""

import logging
import time
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from analytics.contradictions.answers import find_between_languages
from analytics.contradictions.candidates import Counts, count_words
from analytics.contradictions.collect import Texts, document_key, faq_key, read_neighbours, read_texts
from analytics.contradictions.comparison.statements import Statement, read_statements
from analytics.contradictions.detection import Found, detect
from analytics.contradictions.nearby import read_near
from analytics.models import Contradiction, ReviewFeed, StatementWords
from analytics.models.contradictions import FEED
from core.db.locks import Lock, advisory_lock
from core.hashing import fingerprint
from faqs.models import FAQ
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, IndexedDocument

logger = logging.getLogger(__name__)

#: What is saved with a time may be seen only so much later.
SETTLED = timedelta(seconds=5)
#: More changed pages and FAQs than these are left to the night.
CHANGES = 200
State = Contradiction.State


def compare_all() -> int | None:
    """Compare all pages and FAQs with each other; return how many contradictions there are, None if another process
    compares."""
    with advisory_lock(Lock.CONTRADICTIONS) as is_mine:
        if not is_mine:
            return None
        started, until = time.monotonic(), timezone.now() - SETTLED
        texts = read_texts()
        statements = read_statements(texts.sources)
        counts = count_words(statements)
        found = detect(texts.sources, statements, counts, read_neighbours(texts))
        found += find_between_languages(texts)
        fresh = _save(found, texts, Contradiction.objects.all().values_list("pk", flat=True))
        ReviewFeed.objects.update_or_create(name=FEED, defaults={"until": until})
        StatementWords.objects.update_or_create(
            pk=1, defaults={"statements": counts.statements, "words": dict(counts.words)}
        )
        seconds = time.monotonic() - started
        logger.info(
            "contradictions compared texts=%d found=%d new=%d seconds=%.1f",
            len(texts.sources),
            len(found),
            fresh,
            seconds,
        )
        return len(found)


def compare_changed() -> None:
    """Compare what the index took in since the last look with all the rest, unless another process compares."""
    with advisory_lock(Lock.CONTRADICTIONS) as is_mine:
        if not is_mine:
            return
        until = timezone.now() - SETTLED
        feed, made = ReviewFeed.objects.get_or_create(name=FEED, defaults={"until": until})
        if made:
            return
        documents, faqs = _read_changes(feed.until, until)
        if 0 < len(documents) + len(faqs) <= CHANGES:
            compare_these(documents=documents, faqs=faqs)
        feed.until = until
        feed.save()


def compare_these(*, documents: Sequence[int], faqs: Sequence[int]) -> None:
    """Compare these pages and FAQs (ids) with those near to them; words count as they did for the last night."""
    texts = read_near(documents=documents, faqs=faqs)
    owners = {*map(document_key, documents), *map(faq_key, faqs)}
    places = frozenset(place for place, source in enumerate(texts.sources) if source.owner in owners)
    statements = read_statements(texts.sources)
    kept = StatementWords.objects.first()
    counts = Counts(kept.statements, kept.words) if kept else count_words(statements)
    found = detect(texts.sources, statements, counts, read_neighbours(texts), places) if places else []
    found += find_between_languages(texts, documents)
    known = Contradiction.objects.of(documents=list(documents), faqs=list(faqs))
    fresh = _save(found, texts, known.values_list("pk", flat=True))
    logger.info("contradictions compared changed=%d found=%d new=%d", len(owners), len(found), fresh)


def _read_changes(since: datetime, until: datetime) -> tuple[list[int], list[int]]:
    """Return the pages and FAQs that changed between these times; pages once the index has them."""
    indexed = IndexedDocument.objects.filter(
        generation=live_generation(),
        indexed_at__gt=since,
        indexed_at__lte=until,
        document__updated_at__gt=since - timedelta(hours=1),
    )
    edited = FAQ.objects.filter(updated_at__gt=since, updated_at__lte=until).exclude(reference_answer="")
    return list(indexed.values_list("document", flat=True)), list(edited.values_list("pk", flat=True))


@transaction.atomic
def _save(found: Sequence[Found], texts: Texts, compared: Iterable[int]) -> int:
    """Keep what was found; of the rows that were `compared` (ids), settle those that were not found. Return how many
    are new."""
    rows = {row.fingerprint: row for row in (_row(each, texts) for each in found)}
    known = dict(Contradiction.objects.filter(fingerprint__in=list(rows)).values_list("fingerprint", "state"))
    now = timezone.now()
    present = Contradiction.objects.filter(fingerprint__in=list(rows))
    present.filter(state=State.GONE, dismissed_at=None).update(state=State.OPEN, state_at=now)
    present.filter(state=State.GONE).update(state=State.DISMISSED, state_at=now)
    missing = Contradiction.objects.filter(pk__in=list(compared)).exclude(fingerprint__in=list(rows))
    missing.exclude(state=State.GONE).update(state=State.GONE, state_at=now)
    there = _existing(rows.values())
    fresh = [row for mark, row in rows.items() if mark not in known and _is_there(row, there)]
    Contradiction.objects.bulk_create(fresh, ignore_conflicts=True)
    return len(fresh)


def _existing(rows: Iterable[Contradiction]) -> tuple[Container[int], Container[int]]:
    """Return the ids of the pages and FAQs that were not deleted meanwhile."""
    listed = list(rows)
    documents = {pk for row in listed for pk in (row.first_document_id, row.second_document_id) if pk}
    faqs = {pk for row in listed for pk in (row.first_faq_id, row.second_faq_id) if pk}
    locked = Document.objects.select_for_update(no_key=True).filter(pk__in=documents).order_by("pk")
    return set(locked.values_list("pk", flat=True)), set(FAQ.objects.filter(pk__in=faqs).values_list("pk", flat=True))


def _is_there(row: Contradiction, there: tuple[Container[int], Container[int]]) -> bool:
    documents = (pk in there[0] for pk in (row.first_document_id, row.second_document_id) if pk)
    return all(documents) and all(pk in there[1] for pk in (row.first_faq_id, row.second_faq_id) if pk)


def _row(found: Found, texts: Texts) -> Contradiction:
    difference = found.difference
    sides = sorted(
        ((found.first, difference.first), (found.second, difference.second)),
        key=lambda side: (side[0].owner, side[0].unit.text),
    )
    (one, words), (other, other_words) = sides
    return Contradiction(
        kind=difference.kind,
        score=difference.score,
        fingerprint=fingerprint(one.owner, one.unit.text, other.owner, other.unit.text),
        first_words=words,
        second_words=other_words,
        **_side("first", one, texts),
        **_side("second", other, texts),
    )


def _side(name: str, statement: Statement, texts: Texts) -> dict[str, object]:
    kind, _, number = statement.owner.partition("-")
    headings = texts.sources[statement.source].headings
    return {
        f"{name}_{kind}_id": int(number),
        f"{name}_text": statement.unit.text,
        f"{name}_heading": " › ".join(headings),
    }
