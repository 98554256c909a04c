"""Run of a crawl from its plan to its end: findings of the crawling process become documents at once."""

import logging
import shutil
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.inference.embeddings import EmbeddingUnavailable
from core.jobs import beating
from knowledge.ingest.crawl_jobs.importer import MISSES, Applied, archive_page, keep_page, save_page, save_pdf
from knowledge.ingest.crawl_jobs.subprocess import CrawlerDied, crawling
from knowledge.ingest.crawler.messages import (
    Alive,
    CrawlPlan,
    Done,
    Failed,
    Finding,
    Gone,
    KnownPage,
    Page,
    PdfFile,
    Skipped,
    Unchanged,
)
from knowledge.ingest.pdf.types import BadPdf, Said
from knowledge.ingest.pdf.types import gettext_noop as _
from knowledge.models import CrawlOutcome, CrawlRun, Source, SourcePage

logger = logging.getLogger(__name__)

State, Kind = CrawlRun.State, CrawlOutcome.Kind
#: A crawl without a message for so long has lost its worker; a working one reports every second.
LOST = timedelta(minutes=3)
#: The outcome that a fetched page counts as.
FETCHED = ("new", "changed", "unchanged")
#: A crawl that did not begin for so long may never have been queued; it is queued again after that time.
UNBEGUN, AGAIN = timedelta(minutes=1), timedelta(minutes=10)
#: A source whose crawls were interrupted so many times in a row is not restarted automatically.
MOST_INTERRUPTIONS = 3
TIMEOUT_S = 30.0


class Cancelled(Exception):
    """A member of staff stopped it."""


class TakenAway(Exception):
    """The run belongs to another worker now: this one was taken for lost."""


def queue_run(source_id: int) -> int | None:
    """Create a run to be crawled; None if one is queued or running already, or the source was deleted."""
    try:
        with transaction.atomic():
            return CrawlRun.objects.create(source_id=source_id).pk
    except IntegrityError:
        return None


def crawl(
    run_id: int, *, index: Callable[[int], object], progress: Callable[[int, int], None] | None = None
) -> CrawlRun | None:
    """Work on a queued run; None if it is not, or no longer, queued.

    `index` brings a document's passages up to date. `progress` gets (visited, known of so far).
    """
    claimed = {"state": State.RUNNING, "heartbeat_at": timezone.now()}
    if not CrawlRun.objects.filter(pk=run_id, state=State.QUEUED).update(**claimed):
        return None
    run = CrawlRun.objects.select_related("source__collection").get(pk=run_id)
    # This crawl will ask again what an older one still waits for.
    run.source.runs.filter(state=State.HELD).update(state=State.FINISHED, finished_at=timezone.now())
    folder = _folder(run_id)
    folder.mkdir(parents=True, exist_ok=True)
    work = _Crawl(run, index, progress)
    try:
        with crawling(build_plan(run.source, folder)) as findings:
            for finding in findings:
                work.take(finding)
        work.end()
    except Cancelled:
        work.close(State.CANCELLED)
    except KeyboardInterrupt:
        work.close(State.CANCELLED)
        raise
    except CrawlerDied as death:
        logger.exception("crawl failed run=%d", run_id)
        work.close(State.FAILED, Said(_("{reason}; start it again, and tell whoever runs this server if it recurs"),
                                      {"reason": str(death)}))  # fmt: skip
    except TakenAway:
        logger.warning("crawl was taken away run=%d", run_id)
    except Exception:
        work.close(State.FAILED, Said(_("an error of ours ended it; whoever runs this server finds it in the log")))
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    run.refresh_from_db()
    return run


def build_plan(source: Source, folder: Path) -> CrawlPlan:
    # A page whose document was deleted, or lies in an older collection, is fetched anew.
    there = source.pages.filter(document__collection=source.collection_id)
    rows = there.values_list("url", "etag", "last_modified", "likeness", "links").iterator()
    return CrawlPlan(
        start_urls=tuple(source.start_urls),
        user_agent=f"MarcelCMS (+{settings.PUBLIC_URL})",
        folder=str(folder),
        allow=tuple(source.allow),
        deny=tuple(source.deny),
        domains=tuple(source.domains),
        max_depth=source.max_depth,
        max_pages=source.max_pages,
        delay_s=source.delay_s,
        timeout_s=TIMEOUT_S,
        max_bytes=settings.PDF_MAX_MEGABYTES * 1_000_000,
        allow_private=source.allow_private,
        use_sitemaps=source.use_sitemaps,
        known={url: KnownPage(etag, modified, likeness, tuple(links)) for url, etag, modified, likeness, links in rows},
    )


class _Crawl:
    """One running crawl: its counts, and the known pages it has found again."""

    def __init__(
        self, run: CrawlRun, index: Callable[[int], object], progress: Callable[[int, int], None] | None
    ) -> None:
        self.run, self.source, self.index, self.progress = run, run.source, index, progress
        published = self.source.pages.filter(document__collection=self.source.collection_id, archived_here=False)
        self.known = set(published.values_list("url", flat=True))
        self.counts: Counter[str] = Counter()
        self.lost: set[str] = set()
        self.met: set[str] = set()
        self.failing: set[str] = set()
        self.waiting, self.beaten = 0, 0.0
        self.done: Done | None = None

    def take(self, finding: Finding | None) -> None:
        self.beat()
        match finding:
            case Page():
                with transaction.atomic():
                    self._hold()
                    applied = save_page(self.source, finding)
                    self._tell(applied, finding.url)
                self._index(applied)
            case PdfFile():
                self._pdf(finding)
            case Unchanged():
                with transaction.atomic():
                    self._hold()
                    applied = keep_page(self.source, finding.url)
                    self._tell(applied, finding.url)
                self._index(applied)
            case Failed():
                self._fail(finding.url, finding.reason)
            case Gone() if finding.url in self.known:
                self._lose(finding.url, Said(_("the server answers with status {status}"), {"status": finding.status}))
            case Gone():
                reason = Said(_("a link leads there, but the server answers with status {status}"),
                              {"status": finding.status})  # fmt: skip
                self._outcome(Kind.SKIPPED, finding.url, reason)
            case Skipped() if finding.url in self.known:
                self._lose(finding.url, finding.reason)
            case Skipped():
                self._outcome(Kind.SKIPPED, finding.url, finding.reason)
            case Alive():
                self.waiting = finding.waiting
            case Done():
                self.done = finding
        if finding and not isinstance(finding, Alive | Done):
            self.met.add(finding.url)
        if self.progress and finding:
            self.progress(len(self.met), len(self.met) + self.waiting)

    def _pdf(self, file: PdfFile) -> None:
        try:
            applied = save_pdf(self.source, file, progress=lambda _page, _of: self.beat())
        except BadPdf as bad:
            self._fail(file.url, bad.reason)
            return
        finally:
            Path(file.path).unlink(missing_ok=True)
        self._tell(applied, file.url)
        self._index(applied)

    def _fail(self, url: str, reason: Said) -> None:
        self._outcome(Kind.FAILED, url, reason)
        if url in self.known:
            self.failing.add(url)

    def _lose(self, url: str, reason: Said) -> None:
        self.lost.add(url)
        self._outcome(Kind.GONE, url, reason)

    def _tell(self, applied: Applied, url: str) -> None:
        if applied.kind:
            self._outcome(applied.kind, url, applied.reason, applied.document_id)
        else:
            self.counts["unchanged"] += 1

    def _outcome(self, kind: CrawlOutcome.Kind, url: str, reason: Said | None, document_id: int | None = None) -> None:
        tell(self.run, kind, url, reason, document_id)
        self.counts[kind] += 1

    def _index(self, applied: Applied) -> None:
        if not applied.kind or applied.document_id is None:
            return
        try:
            with beating(self._live, every=LOST.total_seconds() / 4):
                self.index(applied.document_id)
        except EmbeddingUnavailable:
            logger.warning("embedder away, left to the periodic task document=%d", applied.document_id)

    def _live(self) -> None:
        CrawlRun.objects.filter(pk=self.run.pk, state=State.RUNNING).update(heartbeat_at=timezone.now())

    def _hold(self) -> None:
        """Keep the run this worker's until the transaction ends. Raises TakenAway."""
        if not CrawlRun.objects.select_for_update().filter(pk=self.run.pk, state=State.RUNNING).exists():
            raise TakenAway

    def beat(self, *, at_once: bool = False) -> None:
        """Save the counts, once a second at most. Raises Cancelled and TakenAway."""
        if not at_once and time.monotonic() - self.beaten < 1:
            return
        self.beaten = time.monotonic()
        mine = CrawlRun.objects.filter(pk=self.run.pk, state=State.RUNNING)
        if not mine.update(heartbeat_at=timezone.now(), **self._counts()):
            raise TakenAway
        if mine.filter(cancel_requested=True).exists():
            raise Cancelled

    def _counts(self) -> dict[str, Any]:
        return {name: self.counts[name] for name in ("new", "changed", "unchanged", "gone", "failed", "skipped")}

    def close(self, state: CrawlRun.State, said: Said | None = None) -> None:
        message = said_as_json(said)
        CrawlRun.objects.filter(pk=self.run.pk, state=State.RUNNING).update(
            state=state, message=message, finished_at=timezone.now(), **self._counts()
        )

    # --- the end ---

    def end(self) -> None:
        """Decide about missing pages; if there are too many, staff decide."""
        self.beat(at_once=True)
        if self.done and self.done.complete:
            for url in sorted(self.known - self.met):
                self._lose(url, Said(_("nothing on the site links to it any more")))
        if (len(self.lost) + len(self.failing)) * 100 > self.source.max_loss_percent * len(self.known):
            values = {"gone": len(self.lost), "failed": len(self.failing), "known": len(self.known)}
            text = _("of {known} known pages {gone} are gone and {failed} could not be fetched")
            self.close(State.HELD if self.lost else State.FAILED, Said(text, values))
            return
        if not self.lost and not any(self.counts[kind] for kind in FETCHED):
            self.close(State.FAILED, Said(_("no page could be fetched")))
            return
        archived = []
        with transaction.atomic():
            self._hold()
            for row in self.source.pages.select_for_update().filter(url__in=self.lost):
                row.missing_runs += 1
                row.save(update_fields=["missing_runs"])
                if row.missing_runs >= MISSES and (document_id := archive_page(row)):
                    archived.append(document_id)
                    tell(self.run, Kind.ARCHIVED, row.url, None, document_id)
            remark = self.done.remarks[0] if self.done and self.done.remarks else None
            self.close(State.FINISHED, remark)
        for document_id in archived:
            self._index(Applied(Kind.ARCHIVED, document_id))


def tell(run: CrawlRun, kind: CrawlOutcome.Kind, url: str, reason: Said | None, document_id: int | None = None) -> None:
    run.outcomes.create(kind=kind, url=url[:2000], reason=said_as_json(reason), document_id=document_id)


def said_as_json(said: Said | None) -> dict[str, Any]:
    return {"template": said.template, "values": dict(said.values)} if said else {}


@transaction.atomic
def archive_lost(run: CrawlRun) -> list[int]:
    """Archive at once what a held run found missing; return the documents that this changed."""
    lost = run.outcomes.filter(kind=Kind.GONE).values("url")
    archived = []
    for row in SourcePage.objects.select_for_update().filter(source=run.source_id, url__in=lost):
        row.missing_runs = max(row.missing_runs, MISSES)
        row.save(update_fields=["missing_runs"])
        if document_id := archive_page(row):
            archived.append(document_id)
            tell(run, Kind.ARCHIVED, row.url, None, document_id)
    return archived


def lost_runs() -> list[int]:
    """List runs that no task will crawl: never queued, or replacing those whose worker died."""
    now = timezone.now()
    instead = []
    for run in CrawlRun.objects.filter(state=State.RUNNING, heartbeat_at__lt=now - LOST):
        values = {"state": State.INTERRUPTED, "finished_at": now}
        if not CrawlRun.objects.filter(pk=run.pk, state=State.RUNNING, heartbeat_at=run.heartbeat_at).update(**values):
            continue
        shutil.rmtree(_folder(run.pk), ignore_errors=True)
        latest = CrawlRun.objects.filter(source=run.source_id).values_list("state", flat=True)[:MOST_INTERRUPTIONS]
        if list(latest).count(State.INTERRUPTED) < MOST_INTERRUPTIONS and not run.cancel_requested:
            instead.append(queue_run(run.source_id))
    unbegun = CrawlRun.objects.filter(state=State.QUEUED, created_at__lte=now - UNBEGUN)
    silent = list(unbegun.exclude(heartbeat_at__gt=now - AGAIN).order_by("pk").values_list("pk", flat=True))
    CrawlRun.objects.filter(pk__in=silent, state=State.QUEUED).update(heartbeat_at=now)
    return [*silent, *(run_id for run_id in instead if run_id)]


def _folder(run_id: int) -> Path:
    return Path(settings.STATE_DIR) / "crawls" / str(run_id)
