"""Pages on which staff see the built-in retrieval profiles, and make their own."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Prefetch, QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from chat.models import Assistant, ProfileLeg, RetrievalProfile
from chat.services.profiles import check_legs, check_use, clone_profile, delete_profile, lacking, save_profile
from core.admin.forms import LabelledFormSet
from core.admin.textarea import Textarea

if TYPE_CHECKING:
    ProfileModelAdmin = admin.ModelAdmin[RetrievalProfile]
    ProfileModelForm = ModelForm[RetrievalProfile]
    LegTabularInline = admin.TabularInline[ProfileLeg, RetrievalProfile]
    FormSets = list[BaseModelFormSet[Any, Any]]
else:
    ProfileModelAdmin, ProfileModelForm = admin.ModelAdmin, ModelForm
    LegTabularInline, FormSets = admin.TabularInline, list


def kept_legs(formset: Any) -> list[ProfileLeg]:
    """Return the retrievers of a valid formset that are not to be deleted."""
    kept = [form for form in formset.forms if form not in formset.deleted_forms]
    return [form.instance for form in kept if form.cleaned_data.get("retriever")]


class LegFormSet(LabelledFormSet):
    def clean(self) -> None:
        super().clean()
        if not any(self.errors):
            check_legs(kept_legs(self))


class LegInline(LegTabularInline):
    """Retrievers are part of their profile: who may change it may change them."""

    model = ProfileLeg
    formset = LegFormSet
    extra = 0
    min_num = 1

    def _may_edit(self, request: HttpRequest, profile: RetrievalProfile | None) -> bool:
        user = request.user
        if profile is None:
            return user.has_perm("chat.add_retrievalprofile")
        return not profile.is_built_in and user.has_perm("chat.change_retrievalprofile")

    def has_add_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        user = request.user
        return user.has_perm("chat.view_retrievalprofile") or user.has_perm("chat.change_retrievalprofile")


class ProfileForm(ProfileModelForm):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "rerank_first" in cleaned:
            self.instance.rerank_first = cleaned["rerank_first"]
            check_use(self.instance)
        return cleaned


@admin.register(RetrievalProfile)
class RetrievalProfileAdmin(ProfileModelAdmin):
    form = ProfileForm
    list_display = ["name", "meant_for", "retrievers", "used_by", "problems"]
    list_filter = ["is_built_in"]
    search_fields = ["name", "description"]
    inlines = [LegInline]
    fieldsets = [
        (None, {"fields": ["name", "description"]}),
        (_("Merging and reranking"), {"fields": ["fusion", "rerank_first", "protect_faqs"]}),
        (_("Answering"), {"fields": ["sources", "threshold"]}),
    ]

    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 3, "class": "vLargeTextField"})}}

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.clone_view))
        return [path("<int:profile_id>/clone/", view, name="chat_retrievalprofile_clone"), *super().get_urls()]

    # --- who may ---

    def has_change_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.is_built_in)

    def has_delete_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.is_built_in)

    def has_view_permission(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> bool:
        return super().has_view_permission(request) or super().has_change_permission(request)

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[RetrievalProfile]:
        return (
            super()
            .get_queryset(request)
            .prefetch_related("legs", Prefetch("assistants", Assistant.objects.visible_to(request.user)))
        )

    def get_fieldsets(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> Any:
        (first, *others) = super().get_fieldsets(request, obj)
        if obj and obj.is_built_in:
            first = (None, {"fields": ["name", "meant_for"]})
        return [first, *others]

    def get_readonly_fields(self, request: HttpRequest, obj: RetrievalProfile | None = None) -> Any:
        return ["meant_for"] if obj and obj.is_built_in else []

    @admin.display(description=_("description"), ordering="description")
    def meant_for(self, profile: RetrievalProfile) -> str:
        """In the reader's language where it is ours."""
        return gettext(profile.description) if profile.is_built_in else profile.description

    @admin.display(description=_("retrievers"))
    def retrievers(self, profile: RetrievalProfile) -> str:
        return render_to_string("admin/chat/retrievalprofile/retrievers.html", {"profile": profile})

    @admin.display(description=_("used by"))
    def used_by(self, profile: RetrievalProfile) -> str:
        return ", ".join(assistant.name for assistant in profile.assistants.all())

    @admin.display(description=_("problems"))
    def problems(self, profile: RetrievalProfile) -> str:
        return " ".join(lacking(profile))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: RetrievalProfile | None = None,
    ) -> HttpResponse:
        if obj:
            context["problems"] = lacking(obj)
            context["may_clone"] = self.has_add_permission(request)
        return super().render_change_form(request, context, add, change, form_url, obj)

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: RetrievalProfile, form: Any, change: bool) -> None:
        """Do nothing: a profile is saved together with its retrievers, below."""

    def save_related(self, request: HttpRequest, form: Any, formsets: "FormSets", change: bool) -> None:
        (formset,) = formsets
        formset.save(commit=False)  # notes what changed, for the history
        profile = save_profile(profile=form.instance, legs=kept_legs(formset))
        for problem in lacking(profile):
            self.message_user(request, problem, messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: RetrievalProfile) -> None:
        delete_profile(profile=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[RetrievalProfile]) -> None:
        for profile in queryset:
            delete_profile(profile=profile)

    def clone_view(self, request: HttpRequest, profile_id: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        copy = clone_profile(profile=get_object_or_404(RetrievalProfile, pk=profile_id))
        self.log_addition(request, copy, [{"added": {}}])
        self.message_user(request, gettext("“%(name)s” is yours to change.") % {"name": copy}, messages.SUCCESS)
        return redirect("admin:chat_retrievalprofile_change", copy.pk)
