from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from core.management import check_collection, progress_bar
from knowledge.indexing.documents import sync_document, sync_pending
from knowledge.ingest.crawl_jobs.runs import crawl, queue_run
from knowledge.ingest.importer import collection_for
from knowledge.ingest.remarks import from_json
from knowledge.models import CrawlOutcome, CrawlRun, Source
from knowledge.services.crawls import save_source

State = CrawlRun.State


class Command(BaseCommand):
    help = (
        "Crawls a site: its pages and PDFs become documents, and are indexed. The source is kept, so that running it "
        "again asks only for what changed; the options given are then its new ones."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL", help="where to begin; the site is the host of each")
        parser.add_argument("--collection", default="default", metavar="SLUG", help="where to put them (default)")
        patterns = "whole addresses, * stands for anything: 'https://www.uni.example/en/study/*'"
        parser.add_argument("--allow", action="append", metavar="PATTERN", help=f"only these; {patterns}")
        parser.add_argument("--deny", action="append", metavar="PATTERN", help="never these; in the same form")
        parser.add_argument("--domain", action="append", metavar="HOST", help="another name of the first URL's host")
        parser.add_argument("--depth", type=int, metavar="N", help="how many links away a page may be")
        parser.add_argument("--pages", type=int, metavar="N", help="maximum pages")
        parser.add_argument("--delay", type=float, metavar="SECONDS", help="between two requests")
        parser.add_argument("--no-sitemap", action="store_true", help="follow links alone")
        parser.add_argument("--allow-private", action="store_true", help="the site is in a private network")

    def handle(self, *, urls: list[str], collection: str, **options: Any) -> None:
        check_collection(collection)
        source = Source.objects.filter(start_urls=urls, collection__slug=collection).first()
        source = source or Source(name=_free_name(urls[0]), start_urls=urls, collection=collection_for(collection))
        fields = {"allow": "allow", "deny": "deny", "domain": "domains", "depth": "max_depth", "pages": "max_pages",
                  "delay": "delay_s"}  # fmt: skip
        for option, field in fields.items():
            if options[option] is not None:
                setattr(source, field, options[option])
        source.allow_private, source.use_sitemaps = options["allow_private"], not options["no_sitemap"]
        try:
            save_source(source=source)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        run_id = queue_run(source.pk)
        if run_id is None:
            raise CommandError(f"A crawl of {source} goes on already; wait for its end, or stop it in the admin.")
        with progress_bar("Crawling") as show:
            run = crawl(run_id, index=sync_document, progress=show)
        with progress_bar("Indexing") as show:
            sync_pending(progress=show)
        if run is None:
            raise CommandError("Another process took this crawl; see the admin.")
        self._report(run)

    def _report(self, run: CrawlRun) -> None:
        kinds = [CrawlOutcome.Kind.FAILED, CrawlOutcome.Kind.SKIPPED, CrawlOutcome.Kind.GONE]
        for outcome in run.outcomes.filter(kind__in=kinds):
            self.stderr.write(f"{outcome.kind}: {outcome.url}: {_text(outcome.reason)}")
        self.stdout.write(
            f"{run.new} new, {run.changed} changed, {run.unchanged} unchanged, {run.gone} gone, {run.failed} failed, "
            f"{run.skipped} left out."
        )
        message = _text(run.message)
        if run.state == State.HELD:
            raise CommandError(f"Nothing was archived: {message}. Decide in the admin whether that is right.")
        if run.state != State.FINISHED:
            raise CommandError(f"The crawl {run.get_state_display()}: {message or 'see above'}.")
        if message:
            self.stderr.write(message)


def _free_name(url: str) -> str:
    names = [url[:190], *(f"{url[:190]} ({number})" for number in range(2, 1000))]
    taken = set(Source.objects.filter(name__in=names).values_list("name", flat=True))
    return next(name for name in names if name not in taken)


def _text(stored: dict[str, Any]) -> str:
    return "; ".join(map(str, from_json(stored)))
