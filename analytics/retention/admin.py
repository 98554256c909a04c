"""The read-only log of nightly deletions."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.models import AnonymisedQuestion, RetentionRun
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    RunModelAdmin = admin.ModelAdmin[RetentionRun]
    QuestionModelAdmin = admin.ModelAdmin[AnonymisedQuestion]
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    RunModelAdmin = QuestionModelAdmin = admin.ModelAdmin
    AnyModelAdmin = object


class ReadOnly(AnyModelAdmin):
    actions = None
    list_display_links = None
    list_per_page = 50

    class Media:
        css = {"all": ["knowledge/screens.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(RetentionRun)
class RetentionRunAdmin(ReadOnly, RunModelAdmin):
    list_display = ["began_at", "finished_at", "deleted", "visitors", "reports", "records"]
    fields = ["began_at", "finished_at", "deleted", "visitors", "reports", "records"]
    nothing_yet = gettext_lazy(
        "Nothing was deleted yet. Every night, what is older than its assistant keeps it goes, and is told here."
    )

    @admin.display(description=gettext_lazy("deleted"))
    def deleted(self, run: RetentionRun) -> str:
        return "; ".join(map(_said, run.gone)) or _("nothing")


@admin.register(AnonymisedQuestion)
class AnonymisedQuestionAdmin(ReadOnly, ScopedAdmin, QuestionModelAdmin):
    list_display = ["day", "text", "assistant", "language", "status", "faq", "thumbs"]
    list_filter = [("assistant", ScopedFilter), "language", "status"]
    list_select_related = ["assistant", "faq"]
    show_full_result_count = False
    search_fields = ["text"]
    nothing_yet = gettext_lazy(
        "There are none yet. Where an assistant says so, questions stay here without names and numbers when their "
        "conversations are deleted."
    )


def _said(gone: dict[str, Any]) -> str:
    """Return a line such as “Lindi: 12 conversations, 3 anonymised questions kept”."""
    parts = []
    if count := gone["conversations"]:
        parts.append(ngettext("%d conversation", "%d conversations", count) % count)
    if count := gone["anonymised"]:
        parts.append(ngettext("%d anonymised question kept", "%d anonymised questions kept", count) % count)
    if count := gone["questions"]:
        parts.append(ngettext("%d anonymised question", "%d anonymised questions", count) % count)
    if count := gone["counts"]:
        parts.append(ngettext("%d row of figures", "%d rows of figures", count) % count)
    whose = gone["assistant"] or _("deleted assistants")
    return f"{whose}: {', '.join(parts)}"
