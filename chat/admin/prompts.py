"""Pages for the texts that the language model is told: versions, their differences, and what each would send."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from chat.errors import Refused
from chat.models import Assistant, Language, PromptVersion
from chat.models.assistants import default_assistant
from chat.pipeline.guardrails.input import clean_question
from chat.prompt_template import BUILT_IN, LAYOUTS, REQUIRED, Template, lay_out, question_problems, system_problems
from chat.services.prompts import check_unused, count_answers, delete_version, make_version, preview, use_version
from core.admin.textarea import Textarea
from core.diffs import compare
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.llm import client
from core.inference.reranker import RerankerUnavailable

if TYPE_CHECKING:
    from core.access import Staff

    PromptModelForm = forms.ModelForm[PromptVersion]
else:
    PromptModelForm = forms.ModelForm


class PromptVersionForm(PromptModelForm):
    def clean_system(self) -> str:
        return self._checked("system", system_problems)

    def clean_question(self) -> str:
        return self._checked("question", question_problems)

    def _checked(self, name: str, problems_of: Any) -> str:
        text: str = self.cleaned_data[name].replace("\r\n", "\n")
        if problems := problems_of(text):
            raise ValidationError(problems)
        return text


class PreviewForm(forms.Form):
    asked = forms.CharField(label=_("Question"), widget=forms.TextInput(attrs={"autocomplete": "off"}))
    assistant = forms.ModelChoiceField(
        label=_("Assistant"), queryset=Assistant.objects.none(), empty_label=None, initial=default_assistant
    )
    language = forms.ChoiceField(
        label=_("Student’s language"), choices=Language.choices, initial=lambda: (get_language() or "en")[:2]
    )

    def __init__(self, *args: Any, user: "Staff", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = cast("forms.ModelChoiceField[Assistant]", self.fields["assistant"])
        chosen.queryset = Assistant.objects.visible_to(user)

    def clean_asked(self) -> str:
        try:
            return clean_question(self.cleaned_data["asked"], limit=settings.QUESTION_MAX_CHARACTERS)
        except Refused as refused:
            raise ValidationError(refused.detail, code=refused.code) from refused


if TYPE_CHECKING:
    PromptModelAdmin = admin.ModelAdmin[PromptVersion]
else:
    PromptModelAdmin = admin.ModelAdmin


#: In addresses: the texts that are the code's own.
BUILT_IN_KEY = "built-in"
MEANINGS = {
    "sources": _("the passages that were found, numbered; between two lines of {fence}"),
    "question": _("what the student asked; between two lines of {fence}"),
    "decline": _("the word with which the model says that the sources do not answer"),
    "fence": _("a random line around what others wrote, which no text can know"),
    "history": _("the conversation so far, with fences of its own; empty at the first question"),
    "language": _("the language to answer in, in English: “German”"),
    "assistant": _("the assistant’s name"),
    "institution": _("its institution"),
    "persona": _("how it speaks"),
    "today": _("the day, in English: “Monday, 05 October 2026”"),
}


@admin.register(PromptVersion)
class PromptVersionAdmin(PromptModelAdmin):
    form = PromptVersionForm
    list_display = ["name", "comment", "created_by", "created_at", "used_by", "answers"]
    search_fields = ["comment", "system", "question"]
    show_full_result_count = False
    fields = ["comment", "system", "question"]
    formfield_overrides = {
        models.CharField: {"widget": forms.TextInput(attrs={"class": "prompt-comment"})},
        models.TextField: {"widget": Textarea(attrs={"rows": 14, "class": "prompt-text", "spellcheck": "false"})},
    }

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        wrap, name = self.admin_site.admin_view, "chat_promptversion"
        return [
            path("preview/", wrap(require_POST(self.draft_preview_view)), name=f"{name}_draft_preview"),
            path("<str:key>/preview/", wrap(require_POST(self.preview_view)), name=f"{name}_preview"),
            path(
                "<str:key>/use/", wrap(require_http_methods(["GET", "HEAD", "POST"])(self.use_view)), name=f"{name}_use"
            ),
            *super().get_urls(),
        ]

    # --- who may ---

    def has_change_permission(self, request: HttpRequest, obj: PromptVersion | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: PromptVersion | None = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_add_permission(request)

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[PromptVersion]:
        return (
            super()
            .get_queryset(request)
            .select_related("created_by")
            .prefetch_related(Prefetch("assistants", Assistant.objects.visible_to(request.user)))
        )

    @admin.display(description=_("version"), ordering="number")
    def name(self, version: PromptVersion) -> str:
        return version.name

    @admin.display(description=_("used by"))
    def used_by(self, version: PromptVersion) -> str:
        return ", ".join(assistant.name for assistant in version.assistants.all())

    @admin.display(description=_("answers"))
    def answers(self, version: Any) -> int:
        return cast("int", version.answer_count)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """One count for all rows: messages are many."""
        changelist = super().get_changelist_instance(request)
        versions: list[Any] = list(changelist.result_list)
        counts = count_answers([version.name for version in versions])
        for version in versions:
            version.answer_count = counts[version.name]
        changelist.result_list = versions
        return changelist

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        told = {
            "built_in": BUILT_IN.name,
            "told_built_in": Assistant.objects.visible_to(request.user).filter(prompt=None),
        }
        return super().changelist_view(request, {**(extra_context or {}), **told})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Nothing can be changed: its texts, what changed with it, and what can be done with it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        own = Assistant.objects.visible_to(request.user)
        version = self._version(object_id)
        template = version.template if version else BUILT_IN
        before = self._before(version) if version else None
        names = [version.name] if version else [lay_out(layout).name for layout in LAYOUTS]
        context = {
            **self._page(request, template.name, key=object_id),
            "version": version,
            "template": template,
            "before": before,
            "changes": changes(before, template) if before else [],
            "answers": sum(count_answers(names).values()),
            "users": own.filter(prompt=version),
            "others": own.exclude(prompt=version) if version else own.exclude(prompt=None),
            "may_use": request.user.has_perm("chat.change_assistant"),
            "may_make": self.has_add_permission(request),
            "may_delete": version and self.has_delete_permission(request, version),
            "preview_form": PreviewForm(user=request.user),
        }
        return TemplateResponse(request, "admin/chat/promptversion/version.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {
            "title": gettext("New version of the instructions"),
            "placeholders": [(f"{{{name}}}", said, name in REQUIRED) for name, said in MEANINGS.items()],
            "preview_form": PreviewForm(user=request.user),
            "show_save_and_add_another": False,
            "show_save_and_continue": False,
        }
        return super().add_view(request, form_url, {**(extra_context or {}), **shown})

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return the texts to start from: those of the version named in the address, else the built-in ones."""
        version = self._version(request.GET.get("from", BUILT_IN_KEY))
        template = version.template if version else BUILT_IN
        return {"system": template.system, "question": template.question}

    def preview_view(self, request: HttpRequest, key: str) -> HttpResponse:
        version = self._version(key)
        return self._previewed(request, version.template if version else BUILT_IN, key=key)

    def draft_preview_view(self, request: HttpRequest) -> HttpResponse:
        """Preview what is being written, in a tab of its own: nothing of it is saved."""
        system, question = (request.POST.get(name, "").replace("\r\n", "\n") for name in ("system", "question"))
        return self._previewed(request, Template(gettext("the draft"), system, question), key="")

    def _previewed(self, request: HttpRequest, template: Template, *, key: str) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = PreviewForm(request.POST, user=request.user)
        context = {
            **self._page(request, gettext("What %(name)s would send") % {"name": template.name}, key=key),
            "template": template,
            "preview_form": form,
            "has_model": client.is_configured(),
        }
        if form.is_valid():
            chosen = form.cleaned_data
            try:
                context["preview"] = preview(
                    template=template,
                    assistant=chosen["assistant"],
                    question=chosen["asked"],
                    language=chosen["language"],
                )
            except ValidationError as error:
                context["problems"] = error.messages
            except (EmbeddingUnavailable, RerankerUnavailable) as error:
                context["problems"] = [str(error)]
        return TemplateResponse(request, "admin/chat/promptversion/preview.html", context)

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: PromptVersion, form: Any, change: bool) -> None:
        make_version(version=obj, by=cast("Any", request.user))

    def response_add(self, request: HttpRequest, obj: PromptVersion, post_url_continue: str | None = None) -> Any:
        said = gettext("Version %(name)s is made. No assistant uses it yet: look at its preview, then give it to one.")
        self.message_user(request, said % {"name": obj}, messages.SUCCESS)
        return redirect("admin:chat_promptversion_change", obj.number)

    def use_view(self, request: HttpRequest, key: str) -> HttpResponse:
        """Asks first, showing what would change, then gives the version to the assistant."""
        if not request.user.has_perm("chat.change_assistant") or not self.has_view_permission(request):
            raise PermissionDenied
        version = self._version(key)
        chosen = (request.POST if request.method == "POST" else request.GET).get("assistant", "")
        if not chosen.isdecimal():
            raise Http404
        assistant = get_object_or_404(
            Assistant.objects.visible_to(request.user).select_related("prompt"), pk=int(chosen)
        )
        template = version.template if version else assistant.built_in_template
        if request.method == "POST":
            use_version(version=version, assistant=assistant)
            self.log_change(request, cast("Any", assistant), [{"changed": {"fields": ["prompt"]}}])
            said = gettext("%(assistant)s uses %(name)s from the next question on.")
            self.message_user(request, said % {"assistant": assistant, "name": template.name}, messages.SUCCESS)
            return redirect("admin:chat_promptversion_change", key)
        title = gettext("Use %(name)s for %(assistant)s?") % {"name": template.name, "assistant": assistant}
        context = {
            **self._page(request, title, key=key),
            "template": template,
            "assistant": assistant,
            "before": assistant.template,
            "changes": changes(assistant.template, template),
        }
        return TemplateResponse(request, "admin/chat/promptversion/use.html", context)

    def delete_model(self, request: HttpRequest, obj: PromptVersion) -> None:
        delete_version(version=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[PromptVersion]) -> None:
        for version in queryset:
            delete_version(version=version)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        deleted, counts, lacking, protected = super().get_deleted_objects(objs, request)
        for version in objs:
            try:
                check_unused(version)
            except ValidationError as error:
                protected += error.messages
        return deleted, counts, lacking, protected

    # --- what these share ---

    def _page(self, request: HttpRequest, title: str, *, key: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "key": key,
            "media": self.media,
        }

    def _version(self, key: str) -> PromptVersion | None:
        """None for the built-in texts; raises Http404."""
        if key == BUILT_IN_KEY:
            return None
        if not key.isdecimal() or len(key) > 9:
            raise Http404
        return get_object_or_404(PromptVersion.objects.select_related("created_by"), number=int(key))

    def _before(self, version: PromptVersion) -> Template:
        earlier = PromptVersion.objects.filter(number__lt=version.number).first()
        return earlier.template if earlier else BUILT_IN


def changes(old: Template, new: Template) -> list[tuple[str, Any]]:
    """Return the texts that differ, by their heading."""
    pairs = [(_("Instructions"), old.system, new.system), (_("Question"), old.question, new.question)]
    return [(str(heading), compare(before, after)) for heading, before, after in pairs if before != after]
