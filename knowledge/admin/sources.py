"""Admin of sources: what is crawled, how far and how often."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import F, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from core.admin.forms import LinesField
from core.admin.scoped import ScopedAdmin
from core.db.annotations import count_related
from knowledge.admin.collections import CollectionFilter, PresetsCollection, university_collections
from knowledge.ingest.crawler.frontier import normalised
from knowledge.models import CrawlRun, Source, SourcePage
from knowledge.services.crawls import HOST, delete_source, next_crawl, save_source, start_crawl


def check_address(line: str) -> None:
    if not normalised(line):
        raise ValidationError(_("it is no address such as https://www.uni.example/."))


def check_pattern(line: str) -> None:
    """Check a pattern: patterns are compared with whole addresses, so it must begin with a scheme or *."""
    if any(sign.isspace() for sign in line):
        raise ValidationError(_("an address has no spaces."))
    if not line.startswith(("http://", "https://", "*")):
        raise ValidationError(_("it must begin with https://, http:// or *, or it matches no address."))


def check_domain(line: str) -> None:
    if not HOST.fullmatch(line):
        host = urlsplit(line).hostname if "//" in line else None
        hint = _(" Did you mean %(host)s?") % {"host": host} if host else ""
        raise ValidationError(_("it is no domain such as www.uni.example.") + hint)


if TYPE_CHECKING:
    from knowledge.models.sources import SourceQuerySet

    SourceModelAdmin = admin.ModelAdmin[Source]
    SourceModelForm = forms.ModelForm[Source]
else:
    SourceModelAdmin = admin.ModelAdmin
    SourceModelForm = forms.ModelForm


def lines_field(name: str, **kwargs: Any) -> LinesField:
    """Build the form field of a model's array, with its label and help text."""
    array = cast("Any", Source._meta.get_field(name))
    words = {"label": capfirst(array.verbose_name), "help_text": array.help_text, "required": not array.blank}
    return LinesField(max_length=array.base_field.max_length, **words, **kwargs)


class SourceForm(SourceModelForm):
    start_urls = lines_field("start_urls", check=check_address)
    allow = lines_field("allow", check=check_pattern)
    deny = lines_field("deny", check=check_pattern)
    domains = lines_field("domains", check=check_domain, rows=2)
    at_hour = forms.TypedChoiceField(
        label=gettext_lazy("At what hour"),
        coerce=int,
        initial=3,
        choices=[(hour, f"{hour:02}:00") for hour in range(24)],
        help_text=gettext_lazy(
            "May start some minutes later, so that websites are not all read at once. Nights disturb least."
        ),
    )


class CrawlFilter(admin.SimpleListFilter):
    title = gettext_lazy("last read")
    parameter_name = "crawl"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("failed", gettext_lazy("failed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return cast("SourceQuerySet", queryset).with_failed_crawl() if self.value() == "failed" else queryset


@admin.register(Source)
class SourceAdmin(PresetsCollection, ScopedAdmin, SourceModelAdmin):
    form = SourceForm
    list_display = ["name", "collection", "page_count", "last_crawl", "next_crawl", "problems"]
    list_filter = [CrawlFilter, ("collection", CollectionFilter), "every"]
    list_select_related = ["collection"]
    search_fields = ["name", "start_urls"]
    search_help_text = gettext_lazy("Searches names and start addresses.")
    actions = ["crawl_selected"]
    fieldsets = [
        (None, {"fields": ["name", "collection", "start_urls"]}),
        (
            gettext_lazy("Limits"),
            {
                "fields": [
                    "allow",
                    "deny",
                    "domains",
                    "max_depth",
                    "max_pages",
                    "delay_s",
                    "use_sitemaps",
                    "max_loss_percent",
                    "allow_private",
                ],
                "description": gettext_lazy(
                    "These settings suit most websites. Change them if too many or too few pages are found."
                ),
            },
        ),
        (gettext_lazy("Schedule"), {"fields": ["every", "at_hour"]}),
    ]

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.crawl_view))
        return [path("<int:source_id>/crawl/", view, name="knowledge_source_crawl"), *super().get_urls()]

    def has_crawl_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.crawl_source")

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        """Show whether private networks are allowed, read-only for staff who may not change it."""
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.has_perm("knowledge.allow_private") else [*fields, "allow_private"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collection":
            kwargs["queryset"] = university_collections()
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        pages = SourcePage.objects.filter(archived_here=False, document__isnull=False)
        newest = CrawlRun.objects.order_by("source_id", "-created_at", "-pk").distinct("source_id")
        sources: QuerySet[Source] = (
            super().get_queryset(request).annotate(pages_there=count_related(pages, by="source"))
        )
        return sources.prefetch_related(Prefetch("runs", newest, to_attr="newest_runs"))

    @admin.display(description=gettext_lazy("pages"), ordering="pages_there")
    def page_count(self, source: Any) -> int:
        return cast("int", source.pages_there)

    @admin.display(description=gettext_lazy("last read"))
    def last_crawl(self, source: Source) -> str:
        return render_to_string("admin/knowledge/source/last_crawl.html", {"run": newest_run(source)})

    @admin.display(description=gettext_lazy("read next"), ordering=F("every").asc())
    def next_crawl(self, source: Source) -> str | datetime:
        return next_crawl(source, timezone.localtime()) or _("only manually")

    @admin.display(description=gettext_lazy("problems"))
    def problems(self, source: Source) -> str:
        return render_to_string("admin/knowledge/source/problems.html", {"run": newest_run(source)})

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Source | None = None,
    ) -> HttpResponse:
        run = newest_run(obj) if obj else None
        context["running"] = run if run and run.is_active else None
        context["newest_run"] = run
        context["may_crawl"] = self.has_crawl_permission(request)
        return super().render_change_form(request, context, add, change, form_url, obj)

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: Source, form: Any, change: bool) -> None:
        save_source(source=obj)

    def delete_model(self, request: HttpRequest, obj: Source) -> None:
        delete_source(source=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset:
            delete_source(source=source)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Count the crawls that are deleted with a source, though nobody may delete one alone; documents stay."""
        runs = CrawlRun.objects.filter(source__in=list(objs)).count()
        counts = {str(Source._meta.verbose_name_plural): len(objs), str(CrawlRun._meta.verbose_name_plural): runs}
        return [str(source) for source in objs], counts, set(), []

    def crawl_view(self, request: HttpRequest, source_id: int) -> HttpResponse:
        if not self.has_crawl_permission(request):
            raise PermissionDenied
        run = self._start(request, get_object_or_404(self.get_queryset(request), pk=source_id))
        self.message_user(request, _("The website is being read. This page shows the progress."), messages.SUCCESS)
        return redirect("admin:knowledge_crawlrun_change", run.pk)

    @admin.action(description=gettext_lazy("Read the selected websites now"), permissions=["crawl"])
    def crawl_selected(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        runs = [self._start(request, source) for source in queryset]
        message = ngettext("%d website is being read.", "%d websites are being read.", len(runs)) % len(runs)
        self.message_user(request, message, messages.SUCCESS)

    def _start(self, request: HttpRequest, source: Source) -> CrawlRun:
        run = start_crawl(source=source)
        self.log_addition(request, cast("Any", run), [{"added": {}}])
        return run


def newest_run(source: Any) -> CrawlRun | None:
    return cast("CrawlRun | None", next(iter(source.newest_runs), None))
