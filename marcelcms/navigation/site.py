"""The admin's site: its screens stand in sections by task, for each member of staff only those that they may open."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

#: Pages that are no model's list: what they are called, and which permissions open them (one is enough).
PAGES: Mapping[str, tuple[Promise, Sequence[str]]] = {
    "to-do": (
        _("Inbox"),
        (
            *("analytics.view_gap", "analytics.change_gap", "analytics.view_review", "analytics.change_review"),
            *("chat.view_case", "chat.change_case"),
        ),
    ),
    "contradictions": (_("Contradictions"), ("knowledge.view_document", "knowledge.change_document")),
    "impact": (_("Pages that changed"), ("knowledge.view_document", "knowledge.change_document")),
    "try-question": (_("Try a question"), ("chat.view_conversation", "faqs.view_faq")),
    "dashboard": (_("Dashboard"), ("analytics.view_dashboard",)),
    "topics": (_("All topics"), ("analytics.view_topic",)),
    "quality": (_("Quality of answers"), ("analytics.view_sampledanswer",)),
}
#: Sections by name: title, and their screens in order, models as app.model and pages by the names above.
SECTIONS: Mapping[str, tuple[Promise, Sequence[str]]] = {
    "to-do": (_("To do"), ("to-do", "contradictions", "chat.heldbacksentence", "impact", "knowledge.flaggedtext")),
    "answers": (_("Answers"), ("faqs.faq", "faqs.category", "faqs.matcher")),
    "content": (
        _("Content"),
        (
            *("knowledge.document", "knowledge.editiongroup", "knowledge.pdfupload", "knowledge.course"),
            *("knowledge.source", "knowledge.crawlrun", "knowledge.collection"),
        ),
    ),
    "try": (
        _("Try it"),
        (
            *("try-question", "analytics.shadowtest", "analytics.evaluationset", "analytics.evaluationquestion"),
            *("analytics.evaluationrun", "chat.experiment"),
        ),
    ),
    "insights": (
        _("Insights"),
        (
            *("dashboard", "topics", "quality"),
            *("analytics.report", "chat.conversation", "analytics.anonymisedquestion"),
        ),
    ),
    "settings": (
        _("Settings"),
        (
            *("chat.assistant", "chat.site", "chat.office", "chat.promptversion", "chat.retrievalprofile"),
            *("auth.user", "auth.group", "marcelcms.directorygroup", "marcelcms.directoryidentity"),
            *("marcelcms.rolewithsecondfactor", "chat.apiclient", "chat.webhook", "marcelcms.apitoken"),
        ),
    ),
    "system": (
        _("System"),
        (
            *("knowledge.generation", "analytics.retentionrun", "chat.webhookdelivery"),
            *("admin.logentry", "django_celery_beat.periodictask"),
        ),
    ),
}
#: What the list of a library's model is called.
TITLES: Mapping[str, Promise] = {"auth.group": _("Teams and roles"), "admin.logentry": _("Audit log")}
#: Rows of these are chosen in another screen's form.
UNLISTED = frozenset(
    f"django_celery_beat.{name}" for name in ("clockedschedule", "crontabschedule", "intervalschedule", "solarschedule")
)


class NamedChoices(AutocompleteJsonView):
    """Offers each row by its `choice_label`, where it has one."""

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        return super().serialize_result(obj, to_field_name) | {"text": getattr(obj, "choice_label", str(obj))}


class StaffSite(AdminSite):
    """Django's admin with its screens by task instead of by app."""

    site_title = "MarcelCMS"

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:  # type: ignore[override]
        return NamedChoices.as_view(admin_site=self)(request)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the sections with what the member may open; an app's own page lists the app as Django does."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        screens = {_name(model): _titled(model) for app in apps for model in app["models"]}
        screens |= dict(_pages(request))
        sections = [
            _section(name, title, [screens[screen] for screen in wanted if screen in screens])
            for name, (title, wanted) in SECTIONS.items()
        ]
        placed = {screen for _title, wanted in SECTIONS.values() for screen in wanted}
        sections[-1]["models"] += [screens[name] for name in screens if name not in placed | UNLISTED]
        return [section for section in sections if section["models"]]


def _name(model: Mapping[str, Any]) -> str:
    return cast("str", model["model"]._meta.label_lower)


def _titled(model: dict[str, Any]) -> dict[str, Any]:
    return model | {"name": TITLES.get(_name(model), model["name"])}


def _section(name: str, title: Promise, screens: list[Any]) -> dict[str, Any]:
    address = screens[0]["admin_url"] or screens[0]["add_url"] if screens else ""
    return {"name": title, "app_label": name, "app_url": address, "has_module_perms": True, "models": screens}


def _pages(request: HttpRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (title, permissions) in PAGES.items():
        if any(request.user.has_perm(permission) for permission in permissions):
            yield (
                name,
                {
                    "name": title,
                    "object_name": name,
                    "admin_url": reverse(name),
                    "add_url": None,
                    "view_only": True,
                    "perms": {},
                },
            )
