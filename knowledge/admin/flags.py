"""Admin of flagged texts: passages that seem to address a program, and which of them may be used in answers."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from core.admin.scoped import ScopedAdmin
from knowledge.guardrails.signs import SIGNS
from knowledge.models import FlaggedText
from knowledge.models.flags import FlaggedTextQuerySet
from knowledge.services.documents import decide_flagged

if TYPE_CHECKING:
    FlaggedTextModelAdmin = admin.ModelAdmin[FlaggedText]
else:
    FlaggedTextModelAdmin = admin.ModelAdmin

State = FlaggedText.State
ACTIONS = ("clear", "keep_hidden")


@admin.register(FlaggedText)
class FlaggedTextAdmin(ScopedAdmin, FlaggedTextModelAdmin):
    list_display = ["passage", "reasons", "page", "address", "state", "found_at"]
    list_display_links = ["passage"]
    list_filter = ["state", "found_at"]
    list_select_related = ["document"]
    list_per_page = 50
    search_fields = ["text", "document__title", "document__url"]
    show_full_result_count = False
    actions = ACTIONS
    fields = ["passage", "reasons", "page", "address", "state", "found_at"]
    nothing_yet = _("Nothing suspicious was found. Every page is looked at when it comes in or changes.")
    readonly_fields = ["passage", "reasons", "page", "address", "state", "found_at"]

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: FlaggedText | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[FlaggedText]:
        return cast("FlaggedTextQuerySet", super().get_queryset(request)).for_queue().defer("document__text")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Refuse a decision plainly; Django would only not offer it."""
        if request.POST.get("action") in ACTIONS and not self.has_change_permission(request):
            raise PermissionDenied
        return super().changelist_view(request, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show it without buttons: it is decided in the list, and has nothing to save."""
        buttons = {"show_save": False, "show_save_and_continue": False}
        return super().change_view(request, object_id, form_url, {**buttons, **(extra_context or {})})

    # --- what is shown ---

    @admin.display(description=_("text"))
    def passage(self, flagged: FlaggedText) -> str:
        return format_html('<span class="passages__text">{}</span>', flagged.text)

    @admin.display(description=_("why"))
    def reasons(self, flagged: FlaggedText) -> str:
        return "; ".join(str(SIGNS[name]) for name in flagged.signs)

    @admin.display(description=_("document"), ordering="document__title")
    def page(self, flagged: FlaggedText) -> str:
        address = reverse("admin:knowledge_document_change", args=[flagged.document_id])
        return format_html('<a href="{}">{}</a>', address, flagged.document)

    @admin.display(description=_("address"), ordering="document__url")
    def address(self, flagged: FlaggedText) -> str:
        url = flagged.document.url
        is_web = url.startswith(("https://", "http://"))
        return format_html('<a href="{}" rel="noreferrer">{}</a>', url, url) if is_web else url

    # --- what is done ---

    @admin.action(description=_("Clear the selected passages: use them in answers"), permissions=["change"])
    def clear(self, request: HttpRequest, queryset: QuerySet[FlaggedText]) -> None:
        count = self._decide(request, queryset, State.CLEARED, gettext("cleared"))
        text = ngettext(
            "%d passage was cleared and is used in answers from now on.",
            "%d passages were cleared and are used in answers from now on.",
            count,
        )
        self.message_user(request, text % count, messages.SUCCESS)

    @admin.action(description=_("Keep the selected passages hidden"), permissions=["change"])
    def keep_hidden(self, request: HttpRequest, queryset: QuerySet[FlaggedText]) -> None:
        count = self._decide(request, queryset, State.HIDDEN, gettext("kept hidden"))
        text = ngettext("%d passage stays hidden.", "%d passages stay hidden.", count)
        self.message_user(request, text % count, messages.SUCCESS)

    def _decide(self, request: HttpRequest, queryset: QuerySet[FlaggedText], state: State, said: str) -> int:
        changed = decide_flagged(flagged=queryset, state=state)
        LogEntry.objects.log_actions(cast("int", request.user.pk), changed, CHANGE, said)
        return len(changed)
