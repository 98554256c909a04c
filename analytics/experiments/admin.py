"""The screens of experiments: set up, start, both arms side by side, end, adopt and take back."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models, transaction
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from analytics.dashboard.visibility import SEE_SMALL_GROUPS
from analytics.experiments.adoption import adopt_experiment, take_back_experiment
from analytics.experiments.report import build_outlook, build_result
from analytics.experiments.services import start_experiment, stop_experiment
from chat.admin.assistants import ProfileField
from chat.models import Assistant, Experiment, RetrievalProfile
from core.admin.scoped import ScopedAdmin, ScopedFilter
from knowledge.admin.collections import university_collections

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ExperimentModelAdmin = admin.ModelAdmin[Experiment]
else:
    ExperimentModelAdmin = admin.ModelAdmin

CHANGE_ASSISTANT = "chat.change_assistant"


@admin.register(Experiment)
class ExperimentAdmin(ScopedAdmin, ExperimentModelAdmin):
    """Admin of experiments: staff who may change the assistant plan, start, end and adopt them; others read."""

    list_display = ["name", "assistant", "state", "measure", "started_at", "ended_at", "result"]
    list_filter = ["state", ("assistant", ScopedFilter)]
    list_select_related = ["assistant"]
    list_per_page = 50
    search_fields = ["name"]
    actions = None
    change_form_template = "admin/analytics/experiments/change_form.html"
    nothing_yet = _("No experiment yet. Try one setting on some of the conversations before you change it for all.")
    fieldsets = [
        (None, {"fields": ["name", "assistant"]}),
        (
            _("The other settings"),
            {
                "fields": ["profile", "prompt", "model", "evidence_needed", "collections"],
                "description": _("What is empty stays as the assistant has it. Change one thing at a time."),
            },
        ),
        (
            _("Fixed before it starts"),
            {"fields": ["share", "measure", "least_difference", "rule", "guard_margin"]},
        ),
    ]

    class Media:
        css = {
            "all": [
                "knowledge/admin.css",
                "knowledge/screens.css",
                "analytics/admin.css",
                "analytics/experiments.css",
            ]
        }

    def get_urls(self) -> list[URLPattern]:
        def view(name: str, function: Any) -> URLPattern:
            wrapped = self.admin_site.admin_view(require_POST(function))
            found: URLPattern = path(f"<int:experiment_id>/{name}/", wrapped, name=f"chat_experiment_{name}")
            return found

        return [
            view("start", self.start_view),
            view("stop", self.stop_view),
            view("adopt", self.adopt_view),
            view("take_back", self.take_back_view),
            *super().get_urls(),
        ]

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CHANGE_ASSISTANT)

    def has_change_permission(self, request: HttpRequest, obj: Experiment | None = None) -> bool:
        """Allow it until the start: what was started stays as it is."""
        return request.user.has_perm(CHANGE_ASSISTANT) and (obj is None or obj.is_draft)

    def has_delete_permission(self, request: HttpRequest, obj: Experiment | None = None) -> bool:
        return request.user.has_perm(CHANGE_ASSISTANT) and not (obj and obj.is_running)

    def has_view_permission(self, request: HttpRequest, obj: Experiment | None = None) -> bool:
        return super().has_view_permission(request, obj) or request.user.has_perm(CHANGE_ASSISTANT)

    # --- what is shown ---

    @admin.display(description=_("result"))
    def result(self, experiment: Experiment) -> str:
        adopted = gettext("adopted") if experiment.adopted_at else ""
        adopted = gettext("taken back") if experiment.taken_back_at else adopted
        return " – ".join(filter(None, [str(experiment.get_ending_display()), adopted]))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "profile":
            kwargs |= {"queryset": RetrievalProfile.objects.for_choice(), "form_class": ProfileField}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in {"assistant", "profile", "prompt", "collections"}:
            # Each has a screen of its own, where what it does can be looked at first.
            for way in ("add", "change", "delete", "view"):
                setattr(field.widget, f"can_{way}_related", False)
        return field

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collections":
            kwargs |= {"queryset": university_collections(), "widget": CheckboxSelectMultiple}
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        experiment = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if experiment is not None and self.has_view_permission(request, experiment):
            context["may_decide"] = request.user.has_perm(CHANGE_ASSISTANT)
            if experiment.is_draft:
                context["outlook"] = build_outlook(experiment)
            else:
                sees_all = request.user.has_perm(SEE_SMALL_GROUPS)
                context["result"] = build_result(experiment, sees_small_groups=sees_all)
        return super().change_view(request, object_id, form_url, context)

    # --- what may be done ---

    def start_view(self, request: HttpRequest, experiment_id: int) -> HttpResponse:
        def start(experiment: Experiment, by: "User") -> str:
            start_experiment(experiment=experiment, by=by)
            _log(by, experiment, ["state"])
            return gettext("The experiment is running: new conversations are split from now on.")

        return self._do(request, experiment_id, start)

    def stop_view(self, request: HttpRequest, experiment_id: int) -> HttpResponse:
        def stop(experiment: Experiment, by: "User") -> str:
            stop_experiment(experiment=experiment)
            _log(by, experiment, ["state"])
            return gettext("The experiment has ended: everybody is answered with the settings as now.")

        return self._do(request, experiment_id, stop)

    def adopt_view(self, request: HttpRequest, experiment_id: int) -> HttpResponse:
        def adopt(experiment: Experiment, by: "User") -> str:
            assistant, changed = adopt_experiment(experiment=experiment)
            _log(by, experiment, ["adopted_at"])
            _log(by, assistant, changed)
            return gettext("The assistant answers everybody with these settings from now on.")

        return self._do(request, experiment_id, adopt)

    def take_back_view(self, request: HttpRequest, experiment_id: int) -> HttpResponse:
        def take_back(experiment: Experiment, by: "User") -> str:
            assistant, changed = take_back_experiment(experiment=experiment)
            _log(by, experiment, ["taken_back_at"])
            _log(by, assistant, changed)
            return gettext("The assistant answers everybody with its settings from before again.")

        return self._do(request, experiment_id, take_back)

    def _do(self, request: HttpRequest, experiment_id: int, step: Any) -> HttpResponse:
        user = cast("User", request.user)
        if not user.has_perm(CHANGE_ASSISTANT):
            raise PermissionDenied
        experiment = get_object_or_404(self.get_queryset(request), pk=experiment_id)
        try:
            with transaction.atomic():
                messages.success(request, step(experiment, user))
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        return redirect("admin:chat_experiment_change", experiment_id)


def _log(by: "User", row: models.Model, changed: list[str]) -> None:
    fields: Any = [{"changed": {"fields": changed}}]
    LogEntry.objects.log_actions(by.pk, [cast("Assistant", row)], CHANGE, fields, single_object=True)
