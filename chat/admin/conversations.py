"""Conversations for staff: to be read, never changed; deleted where somebody asks for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.admin.conversation_filters import FILTERS, misread_in, no_choice
from chat.admin.held_back import HeldBackShown, held_back_of, prefetch_held_back
from chat.conversations.filters import with_answer, with_thumbs
from chat.models import Conversation, Feedback, Message
from chat.models.conversations import may_read_help
from chat.pipeline.question import profile_for
from chat.playground.readings import explain_readings
from core.admin.scoped import ScopedAdmin, ScopedFilter
from core.db.annotations import count_related
from core.text import search_words
from knowledge.guardrails.signs import SIGNS
from knowledge.rendering import render_markdown
from knowledge.retrieval.registry import LABELS

ORIGINS: Mapping[str, str | Promise] = {
    "lexical": _("Same words"),
    "dense": _("Same meaning"),
    "dense-sentence": _("Same meaning (sentences)"),
    "dense-proposition": _("Same meaning (propositions)"),
    "hyde": _("Same meaning as a guessed answer"),
    "faq": _("Curated FAQs"),
}
REASONS: Mapping[str, str | Promise] = {
    "nothing_found": _("No page was found at all."),
    "no_evidence": _("The pages that were found are too far from the question."),
    "model_declined": _("The language model found no answer in the pages."),
    "ungrounded": _("What the language model wrote stands on none of the pages."),
    "unsupported": _("The language model wrote figures, links or statements that no cited page holds."),
    "leaked": _("The language model told its instructions instead of an answer."),
    "abuse": _("Abuse: no page was looked at."),
    "interrupted": _("The server stopped while the answer was being written."),
}
NOTICES: Mapping[str, str | Promise] = {
    "model_unavailable": _("The language model did not answer, so pages were quoted instead."),
    "timeout": _("The language model took too long."),
    "busy": _("The language model had too much to do."),
    "unreachable": _("The language model could not be reached."),
    "garbage": _("The language model sent something that is no answer."),
    "cut_off": _("The language model broke off."),
    "endless": _("The language model did not stop writing."),
    "huge": _("The language model sent far too much at once."),
    "circuit_open": _("The language model had failed several times in a row and was left alone for a moment."),
    "partly_quoted": _("No page proved some sentences of the language model, so the pages were quoted there."),
    "nothing_proven": _("No page proved what the language model wrote, so pages were quoted instead."),
    "model_declined": _("The language model found no answer in close pages, so they were quoted instead."),
    "words_only": _("The embedding model did not answer, so only words were compared."),
    "not_reranked": _("The reranker did not answer, so the passages were not put in order by it."),
    "window_too_small": _("The question and its sources are too long for the language model."),
    "queue_full": _("Too many students were waiting for the language model."),
    "queue_timeout": _("The language model was busy with other students for too long."),
}
STEPS: Mapping[str, str | Promise] = {
    "understood": _("reading the chat so far"),
    "words": _("reading the words of the question"),
    "embed": _("understanding the question"),
    "lexical": _("search by words"),
    "dense": _("search by meaning"),
    "dense-sentence": _("search by sentences"),
    "dense-proposition": _("search by propositions"),
    "hyde": _("search by a guessed answer"),
    "faq": _("search in FAQs"),
    "rerank": _("putting the first in order"),
    "retrieval": _("all searching"),
    "sentences": _("choosing sentences"),
    "first_token": _("until the first word"),
    "total": _("until the end"),
}


def label(names: Mapping[str, str | Promise], code: str) -> str:
    """Return a code's meaning; that of a retriever without a text here is its registered label, else the code."""
    return str(names.get(code) or LABELS.get(code, code))


def timings(milliseconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """In the order of the work."""
    known = [step for step in STEPS if step in milliseconds]
    return [(label(STEPS, step), milliseconds[step]) for step in [*known, *(set(milliseconds) - set(known))]]


if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    Staff = User | AnonymousUser
    ConversationModelAdmin = admin.ModelAdmin[Conversation]
else:
    ConversationModelAdmin = admin.ModelAdmin
    Staff = object


#: Characters of the first question in the list.
OPENING = 120
FLAGGED = "flagged"


class AnswerFilter(admin.SimpleListFilter):
    values = {*Message.Status.values, FLAGGED}
    title = _("answers")
    parameter_name = "answer"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            (Message.Status.COMPLETE.value, _("Answered at least once")),
            (Message.Status.ABSTAINED.value, _("No answer given at least once")),
            (Message.Status.FAILED.value, _("Failed at least once")),
            (Message.Status.STOPPED.value, _("Stopped by the student")),
            (Message.Status.CLARIFYING.value, _("Asked back")),
            (FLAGGED, _("Signs of an attack")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value == FLAGGED:
            return queryset.filter(with_answer(flags__len__gt=0))
        return queryset.filter(with_answer(status=value)) if value in Message.Status.values else queryset


class FeedbackFilter(admin.SimpleListFilter):
    values = {"down", "up", "none"}
    title = _("feedback")
    parameter_name = "feedback"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("down", _("Thumbs down")), ("up", _("Thumbs up")), ("none", _("None"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "down":
                return queryset.filter(with_thumbs(-1))
            case "up":
                return queryset.filter(with_thumbs(1))
            case "none":
                return queryset.exclude(with_thumbs(-1)).exclude(with_thumbs(1))
        return queryset


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved passage; `cited` are its numbers in the answer, `text` what it says, if known."""

    row: Mapping[str, Any]
    origins: Sequence[tuple[str, int]]
    cited: Sequence[int]
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the page shows it."""

    message: Message
    text: str
    feedback: int
    feedback_reasons: list[str]
    comment: str
    reason: str
    notice: str
    flags: list[str]
    timings: list[tuple[str, float]]
    readings: list[str]
    found: list[Found]
    held_back: list[HeldBackShown]
    held_back_count: int

    @property
    def html(self) -> SafeString:
        """Render an answer as the student saw it, with its lists and tables."""
        return render_markdown(self.text, breaks=True)


def build_turn(message: Message, user: Staff) -> Turn:
    """Return the message as this member of staff may read it.

    Reads its feedback, what was held back, and its citations where something was retrieved: to be fetched before.
    """
    feedback: Feedback | None = getattr(message, "feedback", None)
    return Turn(
        message=message,
        text=message.text_for(user),
        feedback=feedback.value if feedback else 0,
        feedback_reasons=[str(Feedback.Reason(reason).label) for reason in feedback.reasons] if feedback else [],
        comment=feedback.comment if feedback else "",
        reason=label(REASONS, message.reason),
        notice=label(NOTICES, message.notice),
        flags=[label(SIGNS, flag) for flag in message.flags],
        timings=timings(message.timings_ms),
        readings=explain_readings(message.readings),
        found=describe_retrieved(message) if message.retrieved else [],
        held_back=held_back_of(message, user),
        held_back_count=(message.sentences_quoted or 0) + (message.sentences_left_out or 0),
    )


def describe_retrieved(answer: Message, texts: Mapping[int, str] | None = None) -> list[Found]:
    """Put `Message.retrieved` in words; `texts` are those of passages, by id."""
    cited = [(citation.passage_id, citation.n) for citation in answer.citations.all()]
    return [
        Found(
            row,
            [(label(ORIGINS, origin), rank) for origin, rank in row["origins"].items()],
            [n for passage, n in cited if passage == row["passage"]],
            (texts or {}).get(row["passage"], ""),
        )
        for row in answer.retrieved
    ]


def dialogue(conversation: Conversation, user: Staff) -> list[Turn]:
    """Oldest first; three queries however long it is."""
    messages = conversation.messages.select_related("feedback", "faq").order_by("pk")
    messages = messages.prefetch_related("citations", prefetch_held_back())
    return [build_turn(message, user) for message in messages]


@admin.register(Conversation)
class ConversationAdmin(ScopedAdmin, ConversationModelAdmin):
    list_display = ["opening", "who", "assistant", "message_count", "abstained", "thumbs_down", "updated_at"]
    list_filter = ["updated_at", AnswerFilter, FeedbackFilter, ("assistant", ScopedFilter), *FILTERS]
    search_fields = ["messages__text"]
    search_help_text = _("Searches questions and answers.")
    list_per_page = 50
    show_full_result_count = False
    fields = ("who", "assistant", "created_at", "updated_at")
    readonly_fields = ["who", "assistant", "created_at", "updated_at"]
    change_form_template = "admin/chat/conversation/change_form.html"

    class Media:
        css = {"all": ["knowledge/screens.css", "chat/retrieved.css", "chat/held_back.css"]}
        js = ["chat/held_back.js"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        conversations: QuerySet[Conversation] = super().get_queryset(request).select_related("assistant")
        asked = Message.objects.filter(conversation=OuterRef("pk"), role=Message.Role.USER).order_by("pk")
        # Who may only delete conversations reads nothing of them.
        asked = asked.readable_by(request.user) if self.has_view_permission(request) else asked.none()
        conversations = conversations.annotate(first_question=Subquery(asked.values(start=Left("text", OPENING))[:1]))
        page = (request.resolver_match.url_name or "") if request.resolver_match else ""
        if not page.endswith("_changelist"):
            return conversations
        return conversations.annotate(
            messages_in_all=count_related(Message.objects.all(), by="conversation"),
            has_abstained=with_answer(status=Message.Status.ABSTAINED),
            has_thumbs_down=with_thumbs(-1),
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        """Search in what this member of staff may read: a hidden message is not to be found by its words either."""
        if not search_term or may_read_help(request.user):
            return super().get_search_results(request, queryset, search_term)
        found = queryset
        for word in search_words(search_term):
            said = Message.objects.filter(conversation=OuterRef("pk"), text__icontains=word)
            found = found.filter(Exists(said.without_help()))
        return found, False

    def row_title(self, request: HttpRequest, conversation: Any) -> str:
        """Return what its pages and the search call it: its first question that may be read, and its day."""
        day = date_format(localtime(conversation.created_at), "SHORT_DATE_FORMAT")
        if conversation.first_question:
            return f"{conversation.first_question} ({day})"
        return gettext("Conversation of %(day)s") % {"day": day}

    # --- what is shown ---

    @admin.display(description=_("first question"))
    def opening(self, conversation: Any) -> str:
        return conversation.first_question or "–"

    @admin.display(description=_("visitor"))
    def who(self, conversation: Conversation) -> str:
        return str(conversation.visitor_id)[:8]

    @admin.display(description=_("messages"), ordering="messages_in_all")
    def message_count(self, conversation: Any) -> int:
        return conversation.messages_in_all or 0

    @admin.display(description=_("no answer given"), ordering="has_abstained")
    def abstained(self, conversation: Any) -> str:
        return str(_("yes")) if conversation.has_abstained else "–"

    @admin.display(description=_("thumbs down"), ordering="has_thumbs_down")
    def thumbs_down(self, conversation: Any) -> str:
        return str(_("yes")) if conversation.has_thumbs_down else "–"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Says what of its address it does not understand, and goes on without that."""
        wrong = misread_in(request.GET.dict())
        for name, filtered in (("answer", AnswerFilter), ("feedback", FeedbackFilter)):
            if (value := request.GET.get(name)) and value not in filtered.values:
                wrong[name] = no_choice(value)
        if not wrong:
            return super().changelist_view(request, extra_context)
        rest, without = request.GET.copy(), gettext("The list is shown without it.")
        for name, reason in wrong.items():
            rest.pop(name)
            self.message_user(request, f"{reason} {without}", messages.WARNING)
        return redirect(f"{request.path}?{rest.urlencode()}")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        conversation = self.get_object(request, object_id)
        may_see = conversation is not None and self.has_view_permission(request, conversation)
        turns = dialogue(conversation, request.user) if conversation and may_see else []
        threshold = profile_for(conversation.assistant if conversation else None).threshold
        context = {"turns": turns, "threshold": threshold, "subtitle": None, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    # --- what may be done ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Names the conversations and counts the rest: what was said need not be read to be deleted. Who may delete a
        conversation deletes all that belongs to it, whatever else staff may not."""
        _listed, counts, _lacking, protected = super().get_deleted_objects(objs, request)
        return [self.row_title(request, conversation) for conversation in objs], counts, set(), protected

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """Tell staff that a conversation is deleted. The message holds neither its number nor its text."""
        self.message_user(request, gettext("The conversation is deleted."), messages.SUCCESS)
        may_see_others = self.has_view_permission(request)
        return redirect("admin:chat_conversation_changelist" if may_see_others else "admin:index")
