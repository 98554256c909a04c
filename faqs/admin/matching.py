"""Pages about matching by collection: how good each way is, which one is used, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from core.admin.scoped import ScopedAdmin
from faqs.matching.shadow import list_changes
from faqs.models import Matcher, MatcherFit
from faqs.models.matching import MatcherQuerySet
from faqs.services import bring_back_fit, choose_matching

if TYPE_CHECKING:
    MatcherModelAdmin = admin.ModelAdmin[Matcher]
else:
    MatcherModelAdmin = admin.ModelAdmin

#: Why nothing that was learned is used although something was.
CHOSEN = _("Staff chose the nearest phrasing.")
BEHIND = _("Something was changed just now. Until that is learned, the nearest phrasing is used.")
HELD = _("Staff brought back an earlier fit. It stays in use until another way is chosen.")
WAITS = _("What was learned last would change more than a few answers and waits for your decision.")
FEW = _("There are too few FAQs to learn from.")


@dataclass(frozen=True, slots=True)
class Standing:
    """The matching of a collection's FAQs, and why; `fits` are its fits without weights, the newest first."""

    matcher: Matcher
    fits: Sequence[MatcherFit]

    @property
    def newest(self) -> MatcherFit | None:
        return self.fits[0] if self.fits else None

    @property
    def is_learned(self) -> bool:
        fit = next((fit for fit in self.fits if fit.pk == self.matcher.fit_id), None)
        goes_on = bool(self.newest and self.newest.edits == self.matcher.edits and self.newest.waits_for_changes)
        return fit is not None and (self.matcher.is_pinned or goes_on or fit.edits == self.matcher.edits)

    @property
    def reason(self) -> Any:
        matcher, newest = self.matcher, self.newest
        if matcher.choice == Matcher.Choice.NEAREST:
            return CHOSEN
        if matcher.is_pinned:
            return HELD
        if newest is None:
            return FEW
        if newest.edits != matcher.edits:
            return BEHIND
        if newest.waits_for_changes:
            return WAITS
        return newest.get_reason_display()

    @property
    def waits(self) -> bool:
        return self.newest is not None and self.newest.state == MatcherFit.State.WAITING


def describe(matcher: Matcher) -> Standing:
    return Standing(matcher, list(matcher.fits.all()))


@admin.register(Matcher)
class MatcherAdmin(ScopedAdmin, MatcherModelAdmin):
    list_display = ["collection", "used", "quality", "why"]
    list_display_links = ["collection"]
    actions = None
    nothing_yet = _("Nothing to match yet. A collection appears here with its first FAQ.")

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "faqs/admin.css"]}

    def get_urls(self) -> list[URLPattern]:
        def post(route: str, view: Any, name: str) -> URLPattern:
            wrapped: Any = self.admin_site.admin_view(require_POST(view))
            found: URLPattern = path(route, wrapped, name=f"faqs_matcher_{name}")
            return found

        return [
            post("<int:matcher_id>/choose/", self.choose_view, "choose"),
            post("<int:matcher_id>/use/<int:fit_id>/", self.use_view, "use"),
            *super().get_urls(),
        ]

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Matcher | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Matcher]:
        rows: MatcherQuerySet = super().get_queryset(request)  # type: ignore[assignment]
        fits = Prefetch("fits", MatcherFit.objects.defer("weights"))
        return rows.of_university().select_related("collection").prefetch_related(fits)

    # --- the list ---

    @admin.display(description=_("used now"))
    def used(self, matcher: Matcher) -> str:
        return render_to_string("admin/faqs/matcher/used.html", {"standing": describe(matcher)})

    @admin.display(description=_("right FAQ first"))
    def quality(self, matcher: Matcher) -> str:
        return render_to_string("admin/faqs/matcher/quality.html", {"fit": describe(matcher).newest})

    @admin.display(description=_("why"))
    def why(self, matcher: Matcher) -> str:
        return str(describe(matcher).reason)

    # --- one collection ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show how good each way is, and what can be chosen; nothing is saved here."""
        matcher = self.get_object(request, object_id)
        if matcher is None:
            raise Http404
        if request.method != "GET" or not self.has_view_or_change_permission(request, matcher):
            raise PermissionDenied
        standing = describe(matcher)
        newest = standing.newest
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("How FAQs of “%(collection)s” are matched") % {"collection": matcher},
            "opts": self.opts,
            "media": self.media,
            "matcher": matcher,
            "standing": standing,
            "newest": newest,
            "changes": list_changes(newest, request.user) if newest and newest.waits_for_changes else [],
            "choices": Matcher.Choice.choices,
            "fits": matcher.fits.all(),
            "may_change": self.has_change_permission(request, matcher),
        }
        return TemplateResponse(request, "admin/faqs/matcher/change_form.html", context)

    def choose_view(self, request: HttpRequest, matcher_id: int) -> HttpResponse:
        matcher = self._changed(request, matcher_id)
        try:
            choose_matching(matcher=matcher, choice=request.POST.get("choice", ""))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_change(request, matcher, [{"changed": {"fields": ["choice"]}}])
            self.message_user(request, gettext("Saved: it counts from the next question on."), messages.SUCCESS)
        return redirect("admin:faqs_matcher_change", matcher_id)

    def use_view(self, request: HttpRequest, matcher_id: int, fit_id: int) -> HttpResponse:
        matcher = self._changed(request, matcher_id)
        fit = get_object_or_404(MatcherFit, pk=fit_id, matcher=matcher)
        try:
            bring_back_fit(fit=fit)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_change(request, matcher, [{"changed": {"fields": ["fit"]}}])
            self.message_user(request, gettext("Saved: it counts from the next question on."), messages.SUCCESS)
        return redirect("admin:faqs_matcher_change", matcher_id)

    def _changed(self, request: HttpRequest, matcher_id: int) -> Matcher:
        """Return the row that may be changed. Raise Http404, PermissionDenied."""
        matcher = get_object_or_404(self.get_queryset(request), pk=matcher_id)
        if not self.has_change_permission(request, matcher):
            raise PermissionDenied
        return matcher
