"""Drafts to test, read from a form that staff have not saved.

The forms of FAQs, documents and profiles are other screens'; only what a test needs is read of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.forms.models import modelform_factory
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.models import ShadowTest
from analytics.shadow.drafts import DocumentDraft, FAQDraft, ProfileDraft
from chat.models import Assistant, PromptVersion, RetrievalProfile
from faqs.models import FAQ
from faqs.versions.history import present_fingerprint
from knowledge.models import Collection, Document
from knowledge.retrieval.registry import retriever_choices
from knowledge.services.documents import read_version

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from core.access import Staff

FAQ_FIELDS = ["question", "language", "valid_from", "valid_until", "reference_answer"]
DOCUMENT_FIELDS = [
    *("title", "url", "collection", "language", "status", "text"),
    *("valid_from", "valid_until", "audience"),
]
PROFILE_FIELDS = ["name", "description", "fusion", "rerank_first", "protect_faqs", "sources", "threshold"]


class PhrasingRow(forms.Form):
    text = forms.CharField(max_length=1000, required=False)


class SourceRow(forms.Form):
    document = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    position = forms.IntegerField(min_value=0, required=False)


class LegRow(forms.Form):
    retriever = forms.ChoiceField(choices=retriever_choices, required=False)
    weight = forms.FloatField(min_value=0, max_value=100, required=False)
    k = forms.IntegerField(min_value=1, max_value=400, required=False)


def check_seen(data: QueryDict, target: Any) -> None:
    """Lock an FAQ or a document until the transaction ends.

    Raise ValidationError if it was saved after its form was opened: publishing would lose that edit.
    """
    now = data.get("seen")
    if isinstance(target, FAQ):
        now = present_fingerprint(target.pk)
    elif isinstance(target, Document):
        held = Document.objects.select_for_update(no_key=True).filter(pk=target.pk).first()
        now = read_version(held) if held else None
    if data.get("seen", now) != now:
        raise ValidationError(
            _("It was changed since you opened its form: open the form again, and write your change once more.")
        )


def faq_draft(data: QueryDict, faq: FAQ | None, *, user: "Staff") -> FAQDraft:
    """Read the FAQ as it would go live, a draft as if it were published. Raise ValidationError."""
    form = modelform_factory(FAQ, fields=FAQ_FIELDS)(data, instance=faq)
    phrasings = _rows(PhrasingRow, data, "phrasings")
    sources = [row for row in _rows(SourceRow, data, "sources") if row.get("document")]
    if not form.is_valid():
        raise ValidationError(_said(form))
    written: FAQ = form.instance
    last = max((row["position"] or 0 for row in sources), default=0) + 1
    ordered = sorted(sources, key=lambda row: last if row["position"] is None else row["position"])
    documents = tuple(dict.fromkeys(row["document"] for row in ordered))
    _check_documents(documents, faq, user)
    retires = data.get("status") == FAQ.Status.RETIRED
    if not documents and not retires:
        raise ValidationError(_("Link a document that answers it: without one it leads nowhere."))
    return FAQDraft(
        question=written.question,
        language=written.language,
        status=FAQ.Status.RETIRED.value if retires else FAQ.Status.PUBLISHED.value,
        valid_from=written.valid_from,
        valid_until=written.valid_until,
        reference_answer=written.reference_answer,
        phrasings=tuple(dict.fromkeys(row["text"] for row in phrasings if row.get("text"))),
        documents=documents,
    )


def document_draft(data: QueryDict, document: Document, *, user: "Staff") -> DocumentDraft:
    """Read the draft of a document from its form. Raise ValidationError."""
    form = modelform_factory(Document, fields=DOCUMENT_FIELDS)(data, instance=document)
    own = Collection.objects.visible_to(user).values("pk")
    form.fields["collection"].queryset = Collection.objects.filter(Q(pk__in=own) | Q(pk=document.collection_id))  # type: ignore[attr-defined]
    if not form.is_valid():
        raise ValidationError(_said(form))
    return DocumentDraft.of(form.instance)


def profile_draft(data: QueryDict, profile: RetrievalProfile) -> ProfileDraft:
    """Read the draft of a profile from its form. Raise ValidationError."""
    form = modelform_factory(RetrievalProfile, fields=PROFILE_FIELDS)(data, instance=profile)
    rows = [row for row in _rows(LegRow, data, "legs") if row.get("retriever")]
    if not form.is_valid():
        raise ValidationError(_said(form))
    if any(row["weight"] is None or row["k"] is None for row in rows):
        raise ValidationError(_("Each retriever needs a weight and a number of passages."))
    own = {name: getattr(form.instance, name) for name in PROFILE_FIELDS}
    return ProfileDraft(**own, legs=tuple((row["retriever"], row["weight"], row["k"]) for row in rows))


def _rows(row: type[forms.Form], data: QueryDict, prefix: str) -> list[dict[str, Any]]:
    """Return the rows of an inline that are not to be deleted. Raise ValidationError."""
    formset = forms.formset_factory(row, can_delete=True)(data, prefix=prefix)
    if not formset.is_valid():
        said = [message for form in formset.forms for message in _said(form)]
        raise ValidationError([*said, *formset.non_form_errors()])
    return [form.cleaned_data for form in formset.forms if form.cleaned_data and not form.cleaned_data.get("DELETE")]


def _said(form: Any) -> list[str]:
    """Return the errors of a form, each with its field's name."""
    return [
        f"{form.fields[name].label}: {message}" if name in form.fields and form.fields[name].label else str(message)
        for name, messages in form.errors.items()
        for message in messages
    ]


def _check_documents(documents: tuple[int, ...], faq: FAQ | None, user: "Staff") -> None:
    """Refuse documents of other teams, unless linked already. Raise ValidationError."""
    own = Document.objects.visible_to(user).filter(pk__in=documents).exclude(status=Document.Status.ARCHIVED)
    known = set(own.values_list("pk", flat=True))
    linked = set(faq.sources.values_list("document", flat=True)) if faq else set()
    if not known | linked >= set(documents):
        raise ValidationError(_("One of the documents is archived or deleted, or another team’s: choose another one."))


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


def list_targets(kind: str, user: "User") -> QuerySet[Any]:
    """Return the rows of this kind that the user works on."""
    match kind:
        case Kind.FAQ:
            return FAQ.objects.visible_to(user)
        case Kind.DOCUMENT:
            return Document.objects.visible_to(user)
        case Kind.PROFILE:
            return RetrievalProfile.objects.filter(is_built_in=False)
        case _:
            return PromptVersion.objects.all()


def may_test(kind: str, user: "User") -> bool:
    return user.has_perm("analytics.add_shadowtest") and any(user.has_perm(name) for name in RULES[kind].reads)


def may_publish(test: ShadowTest, user: "User") -> bool:
    """Return whether the user may publish such a change without a test."""
    is_allowed: bool = user.has_perms(RULES[test.kind].publishes)
    return is_allowed and written_to(test, user) is not None


def written_to(test: ShadowTest, user: "User") -> Model | None:
    """Return the row that publishing changes; None if it is deleted, or another team's."""
    if test.kind == Kind.PROMPT:
        return Assistant.objects.visible_to(user).filter(pk=test.assistant_id).first()
    found: Model | None = list_targets(test.kind, user).filter(pk=test.target_id).first()
    return found


def link_target(test: ShadowTest) -> str:
    """Return the address of the page of what is to be changed."""
    key = "built-in" if test.kind == Kind.PROMPT and not test.target_id else test.target_id
    return reverse(RULES[test.kind].page, args=[key])


def assistants_for(kind: str, target: Any, user: "User") -> list[Assistant]:
    """Return the assistants that the user works on; those that the change can reach come first."""
    own = list(Assistant.objects.visible_to(user).prefetch_related("collections").order_by("pk"))

    def is_reached(assistant: Assistant) -> bool:
        if kind == Kind.PROFILE:
            return bool(assistant.profile_id == target.pk)
        if kind == Kind.DOCUMENT:
            searched = [collection.pk for collection in assistant.collections.all()]
            return not searched or target.collection_id in searched
        return True

    return sorted(own, key=lambda assistant: not is_reached(assistant))
