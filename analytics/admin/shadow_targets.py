"""What a change is of, and who may test it or make it live: found within what somebody works on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Model, QuerySet
from django.urls import reverse

from analytics.models import ShadowTest
from chat.models import Assistant, PromptVersion, RetrievalProfile
from faqs.models import FAQ
from knowledge.models import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Kind = ShadowTest.Kind


@dataclass(frozen=True, slots=True)
class Rules:
    """Permissions: one of `reads` to test, all of `publishes` to make it live."""

    reads: Sequence[str]
    publishes: Sequence[str]
    page: str


RULES: Mapping[str, Rules] = {
    Kind.FAQ: Rules(
        ("faqs.view_faq", "faqs.change_faq"), ("faqs.change_faq", "faqs.publish_faq"), "admin:faqs_faq_change"
    ),
    Kind.DOCUMENT: Rules(
        ("knowledge.view_document", "knowledge.change_document"),
        ("knowledge.change_document",),
        "admin:knowledge_document_change",
    ),
    Kind.PROFILE: Rules(
        ("chat.view_retrievalprofile", "chat.change_retrievalprofile"),
        ("chat.change_retrievalprofile",),
        "admin:chat_retrievalprofile_change",
    ),
    Kind.PROMPT: Rules(
        ("chat.view_promptversion", "chat.add_promptversion"),
        ("chat.change_assistant",),
        "admin:chat_promptversion_change",
    ),
}


def targets_of(kind: str, user: "User") -> QuerySet[Any]:
    """The rows of this kind that somebody works on."""
    match kind:
        case Kind.FAQ:
            return FAQ.objects.for_staff(user)
        case Kind.DOCUMENT:
            return Document.objects.for_staff(user)
        case Kind.PROFILE:
            return RetrievalProfile.objects.filter(is_built_in=False)
        case _:
            return PromptVersion.objects.all()


def may_test(kind: str, user: "User") -> bool:
    return user.has_perm("analytics.add_shadowtest") and any(user.has_perm(name) for name in RULES[kind].reads)


def may_publish(test: ShadowTest, user: "User") -> bool:
    """Whether they may make it live without a test, too."""
    is_allowed: bool = user.has_perms(RULES[test.kind].publishes)
    return is_allowed and written_to(test, user) is not None


def written_to(test: ShadowTest, user: "User") -> Model | None:
    """The row that publishing changes; None where it is gone, or another team's."""
    if test.kind == Kind.PROMPT:
        return Assistant.objects.for_staff(user).filter(pk=test.assistant_id).first()
    found: Model | None = targets_of(test.kind, user).filter(pk=test.target_id).first()
    return found


def address_of(test: ShadowTest) -> str:
    """The page of what is to be changed."""
    key = "built-in" if test.kind == Kind.PROMPT and not test.target_id else test.target_id
    return reverse(RULES[test.kind].page, args=[key])


def assistants_for(kind: str, target: Any, user: "User") -> list[Assistant]:
    """Those that somebody works on, the ones that the change can reach first."""
    own = list(Assistant.objects.for_staff(user).prefetch_related("collections").order_by("pk"))

    def is_reached(assistant: Assistant) -> bool:
        if kind == Kind.PROFILE:
            return bool(assistant.profile_id == target.pk)
        if kind == Kind.DOCUMENT:
            searched = [collection.pk for collection in assistant.collections.all()]
            return not searched or target.collection_id in searched
        return True

    return sorted(own, key=lambda assistant: not is_reached(assistant))
