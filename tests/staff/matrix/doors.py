"""Every address that the admin answers at, every action of its lists, and every operation of the staff API."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from knowledge.services.corrections import read_corrected
from tests.staff.matrix.world import World

#: Whose row an argument of an address is, where its name and the screen do not say it.
ROWS = {
    "question_id": "analytics_evaluationquestion",
    "assistant_id": "chat_assistant",
    "set_id": "analytics_evaluationset",
    "test_id": "analytics_shadowtest",
    "experiment_id": "chat_experiment",
    "review_id": "analytics_review",
    "sentence_id": "chat_heldbacksentence",
    "gap_id": "analytics_gap",
    "case_id": "chat_case",
    "faq_id": "faqs_faq",
    "matcher_id": "faqs_matcher",
    "profile_id": "chat_retrievalprofile",
    "webhook_id": "chat_webhook",
    "delivery_id": "chat_webhookdelivery",
    "source_id": "knowledge_source",
    "user_id": "auth_user",
    "id": "auth_user",
}
#: What stands for a choice rather than for a row.
CHOICES = {
    "admin:faqs_faq_import_template": {"name": "csv"},
    "admin:faqs_faq_download": {"name": "csv"},
    "admin:view_on_site": {"content_type_id": 0, "object_id": 0},
    "admin:app_list": {"app_label": "knowledge"},
    "admin:chat_promptversion_preview": {"key": "built-in"},
    "admin:chat_promptversion_use": {"key": "built-in"},
}
#: What is asked with it.
QUERIES = {"admin:autocomplete": "?app_label=faqs&model_name=faqsource&field_name=document&term="}
#: What only shows something shows it to a GET; these change something, and answer a POST.
POSTS = frozenset(
    f"admin:{name}"
    for name in (
        *("knowledge_crawlrun_stop", "knowledge_crawlrun_archive", "knowledge_crawlrun_keep"),
        *("knowledge_source_crawl", "knowledge_document_restore", "knowledge_document_original"),
        *("faqs_faq_near", "faqs_faq_dismiss", "faqs_faq_restore", "faqs_faq_confirm"),
        *("faqs_matcher_choose", "faqs_matcher_use"),
        *("chat_experiment_start", "chat_experiment_stop", "chat_experiment_adopt", "chat_experiment_take_back"),
        *("chat_heldbacksentence_judge", "chat_webhook_test", "chat_webhookdelivery_again"),
        *("chat_retrievalprofile_clone", "chat_promptversion_draft_preview", "chat_promptversion_preview"),
        *("analytics_gap_look", "analytics_gap_rename", "analytics_gap_state"),
        *("analytics_gap_assign", "analytics_gap_comment", "analytics_gap_reading"),
        *("analytics_gap_draft", "analytics_gap_phrasings"),
        *("chat_case_state", "chat_case_pass_on", "chat_case_merge", "chat_case_assign"),
        *("chat_case_comment", "chat_case_reading", "chat_case_draft", "chat_case_phrasing"),
        *("analytics_report_stop", "analytics_report_delete_file"),
        *("analytics_review_undo", "analytics_review_reading", "analytics_review_keep"),
        *("analytics_review_meant", "analytics_review_assign"),
        *("analytics_evaluationset_propose", "analytics_evaluationrun_cancel"),
        *("analytics_shadowtest_start", "analytics_shadowtest_keep"),
        *("analytics_shadowtest_stop", "analytics_shadowtest_again"),
        *("analytics_shadowtest_publish", "analytics_shadowtest_discard"),
    )
) | {
    *(
        "shadow-faq",
        "contradiction",
        "faq-reading",
        "topic-change",
        "invite-again",
        "second-factor-reset",
        "passkey-remove",
        "my-sessions-end",
        "sessions-end",
        "admin:logout",
    ),
    *("language-model-start", "language-model-stop", "language-model-switch"),
}
#: Pages that show something to a GET and change it with a POST.
BOTH = frozenset(
    {
        "why-answer",
        "impact-document",
        "quality-judge",
        "quality-promise",
        "to-do",
        "inbox-preferences",
        "my-login",
        "invite",
        "admin:chat_case_several",
        "admin:faqs_faq_import",
        "admin:faqs_faq_merge",
        "admin:knowledge_course_import",
        "admin:knowledge_course_proposals",
        "admin:knowledge_document_correction",
        "admin:chat_promptversion_use",
        "admin:analytics_evaluationquestion_review_one",
        "admin:auth_user_password_change",
    }
)
#: Sent along, so that it would do something where it may; some of it names a row, too.
BODIES: Mapping[str, Callable[[World], dict[str, object]]] = {
    "delete": lambda _world: {"post": "yes"},
    "analytics_gap_state": lambda _world: {"state": "in_work", "version": 0},
    "topic-change": lambda _world: {"do": "pin", "version": 0},
    "analytics_gap_rename": lambda _world: {"name": "Another name", "version": 0},
    "analytics_gap_comment": lambda _world: {"comment": "Who knows this?"},
    "chat_case_change": lambda _world: {"step": "reply", "reply": "Yes.", "version": 0},
    "chat_case_state": lambda _world: {"state": "closed", "version": 0},
    "chat_case_comment": lambda _world: {"comment": "Who knows this?"},
    "_assign": lambda _world: {"due_on": "2099-03-31", "version": 0},
    "contradiction": lambda _world: {"step": "dismiss"},
    "knowledge_document_correction": lambda world: {
        "step": "take",
        "state": read_corrected(world.rows["knowledge_document"]).state,
    },
    "knowledge_document_original": lambda world: {
        "correction_state": read_corrected(world.rows["knowledge_document"]).state
    },
    "quality-judge": lambda world: {"answer": world.parts["sampled_id"], "verdict": "correct_answer"},
    "quality-promise": lambda _world: {"share": 50, "form": "mean"},
    "to-do": lambda world: {"step": "finish", "item": f"topic-{world.rows['analytics_gap'].pk}"},
    "invite": lambda _world: {
        "first_name": "Bo",
        "last_name": "Berg",
        "email": "bo@uni.example",
        "role": "Curator",
        "is_everywhere": "on",
    },
    "analytics_review_change": lambda _world: {"step": "save"},
    "faqs_matcher_choose": lambda _world: {"choice": "nearest"},
    "analytics_review_meant": lambda _world: {"meant": "none"},
    "faqs_faq_merge": lambda world: {"keep": world.rows["faqs_faq"].pk},
    "analytics_shadowtest_again": lambda world: {"assistant": world.rows["chat_assistant"].pk},
    "chat_promptversion_use": lambda world: {"assistant": world.rows["chat_assistant"].pk},
    "chat_promptversion_preview": lambda world: {
        "assistant": world.rows["chat_assistant"].pk,
        "asked": "What is the fee?",
        "language": "en",
    },
}
NAMING_ROWS = ("analytics_shadowtest_again", "chat_promptversion_use")


@dataclass(frozen=True)
class Door:
    name: str  # as `reverse` takes it
    method: str
    arguments: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.name.removeprefix('admin:')} {self.method}"

    @property
    def screen(self) -> str:
        """Return a name such as knowledge_document; empty for what belongs to no list."""
        parts = self.name.removeprefix("admin:").split("_")
        for length in range(len(parts) - 1, 1, -1):
            if (screen := "_".join(parts[:length])) in screens():
                return screen
        return ""

    @property
    def names_row(self) -> bool:
        return bool(self.arguments) and self.name not in CHOICES

    @property
    def names_row_in_body(self) -> bool:
        return self.name.removeprefix("admin:") in NAMING_ROWS

    def address(self, world: World, *, is_missing: bool = False) -> str:
        """Return the address of the world's row, or of one that does not exist."""
        kwargs = CHOICES.get(self.name) or {
            name: _missing(name, world) if is_missing else self._value(name, world) for name in self.arguments
        }
        return reverse(self.name, kwargs=kwargs) + QUERIES.get(self.name, "")

    def _value(self, name: str, world: World) -> Any:
        if name in {"object_id", "run_id"}:
            return world.rows[self.screen].pk
        if name == "key" and self.screen == "chat_promptversion":
            return world.rows[self.screen].pk
        return world.rows[ROWS[name]].pk if name in ROWS else world.parts[name]

    def body(self, world: World) -> dict[str, object]:
        return next((body(world) for name, body in BODIES.items() if self.name.endswith(name)), {})


def knock(client: Client, door: Door, address: str, sent: World) -> Any:
    """Open a door; whatever it does is undone, a logout too."""
    session = client.cookies.get(settings.SESSION_COOKIE_NAME)
    client.cookies.pop("messages", None)
    with transaction.atomic():
        send = client.post if door.method == "POST" else client.get
        response = send(address, door.body(sent) if door.method == "POST" or door.names_row_in_body else None)
        _ = response.getvalue() if response.streaming else response.content
        transaction.set_rollback(True)
    if session and door.name == "admin:logout":
        client.cookies[settings.SESSION_COOKIE_NAME] = session.value
    assert response.status_code != 405, f"{door.title} is no {door.method}"
    return response


def _missing(name: str, world: World) -> Any:
    if name == "kind":
        return world.parts["kind"]
    return 987654321


def screens() -> dict[str, Any]:
    return {f"{model._meta.app_label}_{model._meta.model_name}": found for model, found in admin.site._registry.items()}


def doors() -> Iterator[Door]:
    """Return the doors in the admin, and beside it below admin/."""
    for name, pattern in named_patterns():
        if name.startswith("admin:") or str(pattern.pattern).startswith("admin/"):
            if name.startswith("admin:django_celery_beat") and not name.endswith(
                ("periodictask_changelist", "periodictask_change", "periodictask_add", "periodictask_delete")
            ):
                continue
            arguments = tuple(pattern.pattern.converters) or tuple(pattern.pattern.regex.groupindex)
            methods = ["POST"] if name in POSTS else ["GET"]
            if name in BOTH or name.endswith(("_change", "_delete")):
                methods = ["GET", "POST"]
            for method in methods:
                yield Door(name, method, arguments)


def named_patterns() -> Iterator[tuple[str, URLPattern]]:
    """Return all addresses of the product; without a name only Django's old ones, which lead to others."""

    def walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
        for entry in resolver.url_patterns:
            if isinstance(entry, URLResolver):
                yield from walk(entry, prefix + (f"{entry.namespace}:" if entry.namespace else ""))
            elif entry.name:
                yield prefix + entry.name, entry

    yield from walk(get_resolver(), "")
