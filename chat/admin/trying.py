"""The page on which staff try a question; its address holds the question, so that it can be kept and passed on."""

from dataclasses import replace
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from chat.admin import labels
from chat.asking import ask_of, default_assistant, profile_for
from chat.context import Ask
from chat.guard import Refused, clean_question
from chat.models import Message
from chat.playground import RRF_CONSTANT, Trial, try_question
from chat.profiles import Profile, UnknownProfile, get_profile, profile_names
from knowledge.inference.embedder import EmbeddingUnavailable
from knowledge.inference.reranker import RerankerUnavailable
from knowledge.models import Collection
from knowledge.retrieval.fusion import Fusion


def profile_choices() -> list[tuple[str, str]]:
    return [(name, name) for name in profile_names()]


def students_profile() -> str:
    return profile_for(default_assistant()).name


class TryForm(forms.Form):
    question = forms.CharField(
        label=_("Question"), required=False, strip=False, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    profile = forms.ChoiceField(
        label=_("Retrieval profile"), required=False, choices=profile_choices, initial=students_profile
    )
    collection = forms.ModelMultipleChoiceField(
        label=_("Collections"),
        required=False,
        queryset=Collection.objects.none(),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: those that students are answered from."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """A data set's collection is offered only where the address names it."""
        super().__init__(*args, **kwargs)
        named = cast("QueryDict", self.data).getlist("collection") if self.is_bound else []
        choices = cast("forms.ModelMultipleChoiceField[Collection]", self.fields["collection"])
        choices.queryset = Collection.objects.filter(Q(for_evaluation=False) | Q(slug__in=named))

    def clean_question(self) -> str:
        try:
            return clean_question(self.cleaned_data["question"], limit=settings.QUESTION_MAX_CHARACTERS)
        except Refused as refused:
            raise forms.ValidationError(refused.detail, code=refused.code) from refused


@require_safe
def try_question_view(request: HttpRequest) -> HttpResponse:
    """To be wrapped in `admin.site.admin_view`; raises PermissionDenied."""
    user = request.user
    if not (user.has_perm("chat.view_conversation") or user.has_perm("faqs.view_faq")):
        raise PermissionDenied
    chosen = {"profile": request.GET["profile"]} if "profile" in request.GET else {}
    form = TryForm(request.GET if "question" in request.GET else None, initial=chosen)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Try a question"),
        "form": form,
        "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
    }
    if form.is_bound and form.is_valid():
        try:
            ask = asked(form.cleaned_data)
            context |= shown(try_question(ask), ask.profile)
        except (EmbeddingUnavailable, RerankerUnavailable, UnknownProfile) as error:
            context["failure"] = str(error)
    return TemplateResponse(request, "admin/chat/try_question.html", context)


def asked(cleaned: dict[str, Any]) -> Ask:
    """What the students' assistant would be asked."""
    ask = ask_of(default_assistant(), cleaned["question"], (get_language() or "en")[:2])
    if cleaned["collection"]:
        ask = replace(ask, collections=tuple(collection.slug for collection in cleaned["collection"]))
    return replace(ask, profile=get_profile(cleaned["profile"])) if cleaned["profile"] else ask


def shown(trial: Trial, profile: Profile) -> dict[str, Any]:
    """The trial, with codes put into words."""
    end = trial.reply.end
    return {
        "trial": trial,
        "rankings": [(labels.label(labels.ORIGINS, ranking.origin), ranking) for ranking in trial.rankings],
        "fused": [
            (row, [(labels.label(labels.ORIGINS, share.origin), share) for share in row.shares]) for row in trial.fused
        ],
        "reason": labels.label(labels.REASONS, trial.reply.reason),
        "notice": labels.label(labels.NOTICES, end.notice) if end else "",
        "status": Message.Status(end.status).label if end else "",
        "strategy": Message.Strategy(end.strategy).label if end else "",
        "evidence": end.evidence if end else None,
        "timings": labels.timings(end.timings_ms or {}) if end else [],
        "threshold": profile.threshold,
        "by_score": profile.plan.fusion == Fusion.SCORES,
        "constant": RRF_CONSTANT,
        "given": profile.sources,
    }
