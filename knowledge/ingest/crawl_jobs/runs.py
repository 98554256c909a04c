"""Run of a crawl from its plan to its end: findings of the crawling process become documents at once."""

import logging
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.inference.embeddings import EmbeddingUnavailable
from core.jobs import Heartbeat, JobStopped
from knowledge.ingest.crawl_jobs.importer import MISSES, Applied, archive_page, keep_page, save_file, save_page
from knowledge.ingest.crawl_jobs.subprocess import CrawlerDied, crawling
from knowledge.ingest.crawler.messages import (
    Alive,
    CrawlPlan,
    Done,
    Failed,
    FetchedFile,
    Finding,
    Gone,
    KnownPage,
    Page,
    Skipped,
    Unchanged,
)
from knowledge.ingest.formats.types import BadFile, NoText, Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.ocr.reader import is_installed
from knowledge.ingest.remarks import as_json
from knowledge.models import CrawlOutcome, CrawlRun, Source, SourcePage

logger = logging.getLogger(__name__)

State, Kind = CrawlRun.State, CrawlOutcome.Kind
#: What a page that was fetched counts as.
FETCHED = ("new", "changed", "unchanged")
TIMEOUT_S = 30.0


def queue_run(source_id: int) -> int | None:
    """Create a run that waits; return None if one waits or runs already, or the source is deleted."""
    run = CrawlRun.objects.enqueue(source_id=source_id)
    return run.pk if run else None


def crawl(
    run_id: int, *, index: Callable[[int], object], progress: Callable[[int, int], None] | None = None
) -> CrawlRun | None:
    """Work on a run that waits; return None if it does not wait any more.

    `index` brings a document's passages up to date. `progress` gets (visited, known of so far).
    """
    run = CrawlRun.objects.select_related("source__collection").filter(pk=run_id).first()
    if run is None or not run.claim():
        return None
    # This one will ask again what an older one still waits for.
    run.source.runs.filter(state=State.HELD).update(state=State.FINISHED, finished_at=timezone.now())
    run.folder.mkdir(parents=True, exist_ok=True)
    heartbeat = Heartbeat(run)
    work = _Crawl(run, heartbeat, index, progress)
    try:
        with heartbeat:
            with crawling(build_plan(run.source, run.folder)) as findings:
                for finding in findings:
                    work.take(finding)
            work.end()
    except JobStopped:
        logger.info("crawl stopped run=%d", run_id)
        work.close(State.CANCELLED)
    except KeyboardInterrupt:
        work.close(State.CANCELLED)
        raise
    except CrawlerDied as death:
        logger.exception("crawl failed run=%d", run_id)
        work.close(State.FAILED, Said(_("{reason}; start it again, and tell whoever runs this server if it recurs"),
                                      {"reason": str(death)}))  # fmt: skip
    except Exception:
        work.close(State.FAILED, Said(_("an error of ours ended it; whoever runs this server finds it in the log")))
        raise
    finally:
        shutil.rmtree(run.folder, ignore_errors=True)
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
        reads_pictures=is_installed(),
        browser=settings.CRAWL_BROWSER,
        known={url: KnownPage(etag, modified, likeness, tuple(links)) for url, etag, modified, likeness, links in rows},
    )


class _Crawl:
    """One running crawl: its counts, and the known pages it has found again."""

    def __init__(
        self,
        run: CrawlRun,
        heartbeat: Heartbeat,
        index: Callable[[int], object],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.run, self.source, self.heartbeat, self.index, self.progress = run, run.source, heartbeat, index, progress
        published = self.source.pages.filter(document__collection=self.source.collection_id, archived_here=False)
        self.known = set(published.values_list("url", flat=True))
        self.counts: Counter[str] = Counter()
        self.lost: set[str] = set()
        self.met: set[str] = set()
        self.failing: set[str] = set()
        self.waiting = 0
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
            case FetchedFile():
                self._file(finding)
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
            case Skipped():
                self._skip(finding.url, finding.reason)
            case Alive():
                self.waiting = finding.waiting
            case Done():
                self.done = finding
        if finding and not isinstance(finding, Alive | Done):
            self.met.add(finding.url)
        if self.progress and finding:
            self.progress(len(self.met), len(self.met) + self.waiting)

    def _file(self, file: FetchedFile) -> None:
        try:
            applied = save_file(self.source, file, progress=lambda _page, _of: self.beat())
        except NoText as bad:
            self._skip(file.url, bad.reason)
            return
        except BadFile as bad:
            self._fail(file.url, bad.reason)
            return
        finally:
            Path(file.path).unlink(missing_ok=True)
        self._tell(applied, file.url)
        self._index(applied)

    def _skip(self, url: str, reason: Said) -> None:
        if url in self.known:
            self._lose(url, reason)
        else:
            self._outcome(Kind.SKIPPED, url, reason)

    def _fail(self, url: str, reason: Said) -> None:
        self._outcome(Kind.FAILED, url, reason)
        if url in self.known:
            self.failing.add(url)

    def _lose(self, url: str, reason: Said) -> None:
        self.lost.add(url)
        self._outcome(Kind.GONE, url, reason)

    def _tell(self, applied: Applied, url: str) -> None:
        if applied.kind:
            self._outcome(applied.kind, url, *applied.remarks, document_id=applied.document_id)
        else:
            self.counts["unchanged"] += 1

    def _outcome(self, kind: CrawlOutcome.Kind, url: str, *said: Said, document_id: int | None = None) -> None:
        tell(self.run, kind, url, *said, document_id=document_id)
        self.counts[kind] += 1

    def _index(self, applied: Applied) -> None:
        if not applied.kind or applied.document_id is None:
            return
        try:
            self.index(applied.document_id)
        except EmbeddingUnavailable:
            logger.warning("embedder away, left to the periodic task document=%d", applied.document_id)

    def _hold(self) -> None:
        """Keep the run this worker's until the transaction ends. Raise JobStopped."""
        if not CrawlRun.objects.select_for_update().filter(pk=self.run.pk, state=State.RUNNING).exists():
            raise JobStopped

    def beat(self, *, at_once: bool = False) -> None:
        """Save the counts, once a second at most. Raise JobStopped."""
        self.heartbeat.beat(at_once=at_once, **self._counts())

    def _counts(self) -> dict[str, Any]:
        return {name: self.counts[name] for name in ("new", "changed", "unchanged", "gone", "failed", "skipped")}

    def close(self, state: CrawlRun.State, *said: Said) -> None:
        message = as_json(*said)
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
                    tell(self.run, Kind.ARCHIVED, row.url, document_id=document_id)
            self.close(State.FINISHED, *(self.done.remarks if self.done else ()))
        for document_id in archived:
            self._index(Applied(Kind.ARCHIVED, document_id))


def tell(run: CrawlRun, kind: CrawlOutcome.Kind, url: str, *said: Said, document_id: int | None = None) -> None:
    run.outcomes.create(kind=kind, url=url[:2000], reason=as_json(*said), document_id=document_id)


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
            tell(run, Kind.ARCHIVED, row.url, document_id=document_id)
    return archived
