"""Admin of crawls: progress, outcomes, and the decision if a site lost many of its pages."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from core.admin.scoped import ScopedAdmin, ScopedFilter
from knowledge.admin.uploads import say
from knowledge.ingest.remarks import from_json
from knowledge.models import CrawlOutcome, CrawlRun, DocumentRevision
from knowledge.services.crawls import accept_loss, cancel_run, keep_pages

if TYPE_CHECKING:
    CrawlRunModelAdmin = admin.ModelAdmin[CrawlRun]
else:
    CrawlRunModelAdmin = admin.ModelAdmin

State, Kind = CrawlRun.State, CrawlOutcome.Kind
OUTCOMES_A_PAGE = 50
COUNTS = ("new", "changed", "unchanged", "gone", "failed", "skipped")


def format_remarks(stored: dict[str, Any]) -> str:
    """Format a run's message or an outcome's reasons in the reader's language."""
    return "; ".join(map(say, from_json(stored)))


def list_counts(run: CrawlRun) -> list[dict[str, Any]]:
    labels = {name: CrawlRun._meta.get_field(name).verbose_name for name in COUNTS}  # type: ignore[union-attr]
    return [{"name": name, "label": str(labels[name]), "count": getattr(run, name)} for name in COUNTS]


def describe_progress(run: CrawlRun) -> str:
    """Describe the run's progress in one sentence."""
    visited = sum(getattr(run, name) for name in COUNTS)
    if run.state == State.QUEUED:
        return gettext("Queued.")
    if run.state == State.RUNNING and run.cancel_requested:
        return gettext("Stopping.")
    text = ngettext("%(count)s address so far.", "%(count)s addresses so far.", visited)
    return text % {"count": visited} if run.state == State.RUNNING else format_remarks(run.message)


@admin.register(CrawlRun)
class CrawlRunAdmin(ScopedAdmin, CrawlRunModelAdmin):
    list_display = ["source", "begun", "state_now", "counts", "finished_at"]
    list_display_links = ["source", "begun"]
    list_filter = ["state", ("source", ScopedFilter), "created_at"]
    list_select_related = ["source"]
    list_per_page = 50
    show_full_result_count = False
    actions = None

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        views = {
            "progress": require_safe(self.progress_view),
            "stop": require_POST(self.stop_view),
            "archive": require_POST(self.archive_view),
            "keep": require_POST(self.keep_view),
        }
        own = [
            path(f"<int:run_id>/{name}/", self.admin_site.admin_view(view), name=f"knowledge_crawlrun_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: CrawlRun | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: CrawlRun | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: CrawlRun | None = None) -> bool:
        """Allow everybody to see a crawl who may start one."""
        return self._may_crawl(request) or super().has_view_permission(request, obj)

    def _may_crawl(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.crawl_source")

    # --- what is shown ---

    @admin.display(description=_("begun"), ordering="created_at")
    def begun(self, run: CrawlRun) -> Any:
        return run.created_at

    @admin.display(description=_("state"), ordering="state")
    def state_now(self, run: CrawlRun) -> str:
        return render_to_string(
            "admin/knowledge/crawlrun/state.html", {"run": run, "message": format_remarks(run.message)}
        )

    @admin.display(description=_("outcome"))
    def counts(self, run: CrawlRun) -> str:
        return render_to_string("admin/knowledge/crawlrun/counts.html", {"run": run})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what the crawl found and what there is to decide; nothing can be changed."""
        run = self.get_object(request, unquote(object_id))
        if run is None:
            raise Http404
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        kind = request.GET.get("kind", "")
        outcomes = select_outcomes(run, kind)
        page = Paginator(outcomes, OUTCOMES_A_PAGE).get_page(request.GET.get("p"))
        for outcome in page:
            cast("Any", outcome).said = format_remarks(outcome.reason)
        context = {
            **self.admin_site.each_context(request),
            "title": str(run.source),
            "opts": self.opts,
            "run": run,
            "is_active": run.is_active,
            "may_crawl": self._may_crawl(request),
            "message": describe_progress(run),
            "counts": list_counts(run),
            "known": run.message.get("values", {}).get("known") if run.message else None,
            "kinds": list_kinds(run),
            "kind": kind,
            "page": page,
            "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
            "media": self.media,
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/knowledge/crawlrun/change_form.html", context)

    def progress_view(self, request: HttpRequest, run_id: int) -> JsonResponse:
        """Report the progress, for the page that asks every two seconds while the crawl is running."""
        run = get_object_or_404(self.get_queryset(request), pk=run_id)
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        counts = {count["name"]: count["count"] for count in list_counts(run)}
        state = {"state": run.get_state_display(), "message": describe_progress(run), "counts": counts}
        return JsonResponse({**state, "is_active": run.is_active}, headers={"Cache-Control": "no-store"})

    # --- what is done ---

    def stop_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        run = self._run_to_act_on(request, run_id)
        if cancel_run(run=run):
            self.log_change(request, run, gettext("stopped"))
        self.message_user(request, gettext("Reading stops within a few seconds. Pages found so far are kept."))
        return redirect("admin:knowledge_crawlrun_change", run.pk)

    def archive_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        run = self._run_to_act_on(request, run_id)
        if (count := accept_loss(run=run)) is not None:
            self.log_change(request, run, gettext("missing pages archived"))
        message = ngettext(
            "%d document was archived and is no longer used in answers.",
            "%d documents were archived and are no longer used in answers.",
            count or 0,
        )
        self.message_user(request, message % (count or 0), messages.SUCCESS)
        return redirect("admin:knowledge_crawlrun_change", run.pk)

    def keep_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        run = self._run_to_act_on(request, run_id)
        if keep_pages(run=run):
            self.log_change(request, run, gettext("missing pages kept"))
        self.message_user(request, gettext("The pages are kept."), messages.SUCCESS)
        return redirect("admin:knowledge_crawlrun_change", run.pk)

    def _run_to_act_on(self, request: HttpRequest, run_id: int) -> CrawlRun:
        if not self._may_crawl(request):
            raise PermissionDenied
        run: CrawlRun = get_object_or_404(self.get_queryset(request), pk=run_id)
        return run


def select_outcomes(run: CrawlRun, kind: str) -> QuerySet[CrawlOutcome]:
    """Select outcomes, each with the version of its document that a changed page replaced."""
    replaced = DocumentRevision.objects.filter(
        document=OuterRef("document"), replaced_at__lte=OuterRef("created_at"), replaced_at__gte=run.created_at
    )
    version = replaced.order_by("-replaced_at", "-pk").values("pk")[:1]
    outcomes = run.outcomes.filter(kind=kind) if kind in Kind.values else run.outcomes.all()
    found = outcomes.select_related("document").defer("document__text").order_by("pk")
    return found.annotate(replaced_version=Subquery(version))


def list_kinds(run: CrawlRun) -> list[dict[str, Any]]:
    counts = dict(run.outcomes.order_by().values_list("kind").annotate(count=Count("pk")))
    return [{"value": kind.value, "label": kind.label, "count": counts[kind]} for kind in Kind if kind in counts]
