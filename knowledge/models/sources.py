"""Sources that documents are crawled from, and the outcomes of each crawl."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Self

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import MD5
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from core.jobs import Job, JobQuerySet
from knowledge.models.collections import Collection
from knowledge.models.documents import Document


class SourceQuerySet(StaffScoped["Source"]):
    def with_failed_crawl(self) -> Self:
        """Filter sources whose last crawl failed or was interrupted."""
        runs = apps.get_model("knowledge", "CrawlRun").objects.filter(source=OuterRef("pk"))
        newest = runs.order_by("-created_at", "-pk").values("state")[:1]
        return self.annotate(last_state=Subquery(newest)).filter(last_state__in=["failed", "interrupted"])


class Source(models.Model):
    """A site, or a part of one, whose pages become documents of a collection."""

    class Every(models.TextChoices):
        NEVER = "", _("only manually")
        HOUR = "hour", _("every hour")
        DAY = "day", _("every day")
        WEEK = "week", _("every week, on Sunday")

    name = models.CharField(_("name"), max_length=200, unique=True)
    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="sources", verbose_name=_("collection")
    )
    start_urls = ArrayField(
        models.CharField(max_length=2000), verbose_name=_("start addresses"), help_text=_("One per line.")
    )
    allow = ArrayField(
        models.CharField(max_length=500),
        verbose_name=_("only addresses like"),
        default=list,
        blank=True,
        help_text=_("One per line, * matches anything: https://www.uni.example/en/study/*. Empty: the whole site."),
    )
    deny = ArrayField(
        models.CharField(max_length=500),
        verbose_name=_("never addresses like"),
        default=list,
        blank=True,
        help_text=_("One per line, * matches anything: */print/*."),
    )
    domains = ArrayField(
        models.CharField(max_length=255),
        verbose_name=_("equivalent domains"),
        default=list,
        blank=True,
        help_text=_("Other names of the same site, one per line: www.uni-old.example."),
    )
    max_depth = models.PositiveSmallIntegerField(
        _("depth"), default=8, help_text=_("Most links from a start address to a page.")
    )
    max_pages = models.PositiveIntegerField(_("maximum pages"), default=5000, validators=[MinValueValidator(1)])
    delay_s = models.FloatField(
        _("seconds between requests"), default=0.5, validators=[MinValueValidator(0), MaxValueValidator(60)]
    )
    use_sitemaps = models.BooleanField(_("read the sitemap"), default=True)
    allow_private = models.BooleanField(
        _("allow private networks"),
        default=False,
        help_text=_("For an intranet: allows addresses such as 10.0.0.1. Ask whoever runs the server first."),
    )
    max_loss_percent = models.PositiveSmallIntegerField(
        _("ask before archiving more than … % of the pages"),
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
    )
    every = models.CharField(_("how often"), max_length=8, choices=Every, default=Every.NEVER, blank=True)
    at_hour = models.PositiveSmallIntegerField(_("at what hour"), default=3, validators=[MaxValueValidator(23)])
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        verbose_name = _("website")
        verbose_name_plural = _("websites to read")
        ordering = ["name"]
        permissions = [
            ("crawl_source", _("Can start and stop crawls")),
            ("allow_private", _("Can allow private networks")),
        ]

    def __str__(self) -> str:
        return self.name


class SourcePage(models.Model):
    """An address of a source as it was last seen, so that an unchanged page costs one short request."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pages")
    url = models.CharField(max_length=2000)
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="source_pages")
    etag = models.CharField(max_length=500, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    likeness = models.CharField(max_length=32, blank=True)  # of title and text: finds duplicates
    links = models.JSONField(default=list)
    missing_runs = models.PositiveSmallIntegerField(default=0)
    archived_here = models.BooleanField(default=False)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint("source", MD5("url"), name="one_page_a_source_and_url")]

    def __str__(self) -> str:
        return self.url


class CrawlRunQuerySet(StaffScoped["CrawlRun"], JobQuerySet["CrawlRun"]):  # type: ignore[override]
    """Crawls by owner and by state."""

    owner = "source__collection"


class CrawlRun(Job):
    """One visit to a source. A running one is cancelled by its worker, which still has counts to save."""

    TASK = "knowledge.tasks.run_crawl"
    # Its heartbeat is written every few seconds. One that was only slow is begun again: pages of today are unchanged.
    LOST_AFTER = timedelta(seconds=30)
    UNBEGUN_AFTER, REQUEUED_EVERY = timedelta(minutes=1), timedelta(minutes=10)
    #: A source whose crawls were interrupted so many times in a row is not begun again by itself.
    MOST_INTERRUPTIONS = 3

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        HELD = "held", _("waits for your decision")
        FINISHED = "finished", _("finished")
        CANCELLED = "cancelled", _("cancelled")
        INTERRUPTED = "interrupted", _("interrupted")
        FAILED = "failed", _("failed")

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="runs", verbose_name=_("website"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.QUEUED)
    # The run's remarks, in the form of `knowledge.ingest.remarks.as_json`, so that they can be translated.
    message = models.JSONField(_("message"), default=dict, blank=True)
    new = models.PositiveIntegerField(_("new"), default=0)
    changed = models.PositiveIntegerField(_("changed"), default=0)
    unchanged = models.PositiveIntegerField(_("unchanged"), default=0)
    gone = models.PositiveIntegerField(_("gone"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    skipped = models.PositiveIntegerField(_("left out"), default=0)
    cancel_requested = models.BooleanField(default=False)

    objects = CrawlRunQuerySet.as_manager()

    class Meta:
        verbose_name = _("website visit")
        verbose_name_plural = _("website visits")
        ordering = ["-created_at", "-pk"]
        default_permissions = ("view",)
        indexes = [models.Index(fields=["-created_at", "-id"], name="crawl_by_time")]
        constraints = [
            models.UniqueConstraint(
                fields=["source"],
                condition=models.Q(state__in=["queued", "running"]),
                name="one_crawl_of_a_source_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def folder(self) -> Path:
        """Return the folder in which the crawling process leaves its files."""
        return Path(settings.STATE_DIR) / "crawls" / str(self.pk)

    @property
    def is_cancelled(self) -> bool:
        """Return whether somebody asked the worker to stop since this object was read."""
        return type(self).objects.filter(pk=self.pk, cancel_requested=True).exists()

    def cancel(self) -> bool:
        """Cancel a waiting crawl, or ask a running one's worker to; return False if it had ended."""
        rows = type(self).objects.filter(pk=self.pk)
        ended = {"state": self.State.CANCELLED, "finished_at": timezone.now()}
        if rows.filter(state=self.State.QUEUED).update(**ended):
            return True
        return bool(rows.filter(state=self.State.RUNNING).update(cancel_requested=True))

    def recover(self) -> "CrawlRun | None":
        """Mark the crawl as interrupted and return a new one in its place, unless that was in vain too often."""
        if not self._write(Q(state=self.State.RUNNING), state=self.State.INTERRUPTED, finished_at=timezone.now()):
            return None
        shutil.rmtree(self.folder, ignore_errors=True)
        latest = type(self).objects.filter(source=self.source_id).values_list("state", flat=True)
        is_hopeless = list(latest[: self.MOST_INTERRUPTIONS]).count(self.State.INTERRUPTED) == self.MOST_INTERRUPTIONS
        if is_hopeless or self.cancel_requested:
            return None
        return type(self).objects.enqueue(source_id=self.source_id)


class CrawlOutcome(models.Model):
    """The outcome of one address in a crawl; unchanged pages have none."""

    class Kind(models.TextChoices):
        NEW = "new", _("new")
        CHANGED = "changed", _("changed")
        GONE = "gone", _("gone")
        ARCHIVED = "archived", _("archived")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("left out")

    run = models.ForeignKey(CrawlRun, on_delete=models.CASCADE, related_name="outcomes")
    kind = models.CharField(_("outcome"), max_length=12, choices=Kind)
    url = models.CharField(_("address"), max_length=2000)
    reason = models.JSONField(_("reason"), default=dict, blank=True)  # as a run's message
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("outcome")
        verbose_name_plural = _("outcomes")
        ordering = ["pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.url}"
