"""The page on which staff say which notices and e-mails they want, and who stands in for them."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from analytics.inbox.colleagues import colleagues, may_work
from analytics.inbox.preferences import VIEW_QUALITY, may_choose, preferences_of
from analytics.mails import sends_mails
from analytics.models import Gap, InboxPreferences, Review
from chat.models import Case
from core.access import name_of

if TYPE_CHECKING:
    from datetime import date

    from django.contrib.auth.models import User

    PreferencesModelForm = forms.ModelForm[InboxPreferences]
    UserChoice = forms.ModelChoiceField["User"]
else:
    PreferencesModelForm, UserChoice = forms.ModelForm, forms.ModelChoiceField


NO_SUBSTITUTE = gettext_lazy("no substitute")


class NamedUserField(UserChoice):
    def label_from_instance(self, user: "User") -> str:
        return name_of(user)


class PreferencesForm(PreferencesModelForm):
    substitute = NamedUserField(
        label=gettext_lazy("Substitute"),
        queryset=None,
        required=False,
        empty_label=NO_SUBSTITUTE,
        help_text=gettext_lazy(
            "They are told of what is assigned to you while you are away, and find it among what is theirs. Choose "
            "somebody who works on the same assistants."
        ),
    )

    class Meta:
        model = InboxPreferences
        fields = (
            "shows_notices",
            *("mails_cases", "mails_assignments", "mails_comments", "mails_digest", "mails_quality"),
            *("away_until", "substitute"),
        )
        widgets = {"away_until": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")}
        help_texts = {
            "shows_notices": gettext_lazy(
                "Of what is assigned to you, comments and cases. What there is to do stands in the inbox either way."
            ),
            "mails_quality": gettext_lazy("By the nightly sample, of the assistants of your teams."),
            "mails_digest": gettext_lazy("On Monday morning, in figures; none if there is nothing to do."),
            "away_until": gettext_lazy("The last day on which you are away. Empty: you are here."),
        }

    def __init__(self, *args: Any, user: "User", **options: Any) -> None:
        super().__init__(*args, **options)
        if not user.has_perm(VIEW_QUALITY):
            del self.fields["mails_quality"]
        if not may_work(user):
            # Nothing is assigned to them, so nobody need stand in for them.
            for name in self.fields.keys() - {"mails_quality"}:
                del self.fields[name]
            return
        self.fields["substitute"].queryset = colleagues(Gap, Review, Case).exclude(pk=self.instance.user_id)  # type: ignore[attr-defined]
        if self.instance.away_until is None or self.instance.away_until < timezone.localdate():
            # They are here, and need not say so: nobody stands in for them.
            self.initial.update(away_until=None, substitute=None)

    def clean_away_until(self) -> "date | None":
        day: date | None = self.cleaned_data["away_until"]
        if day and day < timezone.localdate():
            raise ValidationError(_("This day has passed: choose today or a later day."))
        return day

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        is_away = cleaned.get("away_until") is not None
        if not is_away and cleaned.get("substitute") and "away_until" not in self.errors:
            said = _("Enter the last day on which you are away too, or choose “%(nobody)s”.")
            self.add_error("away_until", said % {"nobody": NO_SUBSTITUTE})
        if is_away and cleaned.get("substitute") is None and "substitute" not in self.errors:
            self.add_error("substitute", _("Choose who stands in for you while you are away."))
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
def preferences_view(request: HttpRequest) -> HttpResponse:
    """Show and change one's own preferences. To be wrapped in `admin.site.admin_view`; raises PermissionDenied."""
    user = cast("User", request.user)
    if not may_choose(user):
        raise PermissionDenied
    form = PreferencesForm(request.POST if request.method == "POST" else None, instance=preferences_of(user), user=user)
    if form.is_valid():
        form.save()
        if form.changed_data:
            said: Any = [{"changed": {"fields": [str(form.fields[name].label) for name in form.changed_data]}}]
            LogEntry.objects.log_actions(user.pk, [user], CHANGE, said, single_object=True)
        messages.success(request, _("Your preferences were saved."))
        return redirect("inbox-preferences")
    context = {
        **admin.site.each_context(request),
        "title": _("Notices and substitute") if may_work(user) else _("Notices"),
        "form": form,
        "sends_mails": sends_mails(),
    }
    return TemplateResponse(request, "admin/analytics/inbox/preferences.html", context)
