"""Where members of staff make the tokens of their programs, see when they were last used, and end them."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from marcelcms.models import APIToken, digest_of, new_token

if TYPE_CHECKING:
    TokenModelAdmin = admin.ModelAdmin[APIToken]
    TokenModelForm = forms.ModelForm[APIToken]
else:
    TokenModelAdmin, TokenModelForm = admin.ModelAdmin, forms.ModelForm

DAYS = [(30, _("30 days")), (90, _("90 days")), (365, _("one year"))]
MOST_EACH = 20


class TokenForm(TokenModelForm):
    days = forms.TypedChoiceField(label=_("valid for"), choices=DAYS, coerce=int, initial=90)

    class Meta:
        model = APIToken
        fields = ("name",)

    def clean(self) -> dict[str, Any] | None:
        if APIToken.objects.filter(user=self.instance.user_id).count() >= MOST_EACH:
            said = _("You have %(most)d tokens already: delete one that you no longer need.")
            raise ValidationError(said, params={"most": MOST_EACH})
        return super().clean()


@admin.register(APIToken)
class APITokenAdmin(TokenModelAdmin):
    """Everybody has their own; who has the permissions sees, and ends, everybody's."""

    form = TokenForm
    list_display = ["name", "user", "state", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["user"]
    list_per_page = 50
    show_full_result_count = False
    actions = None
    add_form_template = "admin/marcelcms/apitoken/add_form.html"
    change_list_template = "admin/marcelcms/apitoken/change_list.html"

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return obj is None or obj.user_id == request.user.pk or super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return (obj is not None and obj.user_id == request.user.pk) or super().has_delete_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[APIToken]:
        tokens = super().get_queryset(request)
        return tokens if super().has_view_permission(request) else tokens.filter(user=request.user.pk)

    # --- what is shown ---

    def get_fieldsets(self, request: HttpRequest, obj: APIToken | None = None) -> Any:
        shown = (
            ["name", "days"] if obj is None else ["name", "user", "state", "created_at", "expires_at", "last_used_at"]
        )
        return [(None, {"fields": shown})]

    def get_readonly_fields(self, request: HttpRequest, obj: APIToken | None = None) -> Any:
        return [] if obj is None else ["name", "user", "state", "created_at", "expires_at", "last_used_at"]

    @admin.display(description=_("state"))
    def state(self, token: APIToken) -> str:
        context = {"token": token, "is_valid": token.expires_at > timezone.now() and token.user.is_active}
        return render_to_string("admin/marcelcms/apitoken/state.html", context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": gettext("API tokens"), **(extra_context or {})})

    # --- what is done ---

    def get_form(self, request: HttpRequest, obj: APIToken | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)

        class OfUser(form):  # type: ignore[misc, valid-type]
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                if obj is None:
                    self.instance.user_id = request.user.pk

        return OfUser

    def save_model(self, request: HttpRequest, obj: APIToken, form: Any, change: bool) -> None:
        token = new_token()
        obj.digest = digest_of(token)
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        super().save_model(request, obj, form, change)
        request.new_token = token  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: APIToken, post_url_continue: str | None = None) -> HttpResponse:
        """Shows the token: here and now, and never again."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Your new token"),
            "opts": self.opts,
            "row": obj,
            "token": request.new_token,  # type: ignore[attr-defined]
            "address": request.build_absolute_uri("/api/staff/v1/documents/"),
        }
        response = TemplateResponse(request, "admin/marcelcms/apitoken/made.html", context)
        response["Cache-Control"] = "no-store"
        return response
