"""A form that does not save over what was saved since it was opened, before that was shown."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, QueryDict

from knowledge.conflicts import Conflict, merged, opened_with

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
    AnyModelForm = forms.ModelForm[Any]
else:
    AnyModelAdmin = object
    AnyModelForm = forms.ModelForm


class GuardedForm(AnyModelForm):
    """Made anew for each request, with what was saved since it was opened."""

    conflict: ClassVar[Conflict | None] = None

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.conflict:
            raise ValidationError(self.conflict.message, code="conflict")
        return cleaned


class GuardedAdmin(AnyModelAdmin):
    """To be named before ModelAdmin; its form is a GuardedForm, its template includes `admin/guarded_form.html`."""

    def fingerprint_of(self, row: Any) -> str:
        """What tells one state of a row from another."""
        raise NotImplementedError

    def conflict_of(self, request: HttpRequest, row: Any | None) -> Conflict | None:
        """What was saved since the form was opened that is sent now; the row is held, None is one that is gone."""
        raise NotImplementedError

    def saving(self, request: HttpRequest, row: Any | None) -> AbstractContextManager[Any]:
        """What a save happens in."""
        return nullcontext()

    def reconciled(self, data: QueryDict, row: Any | None) -> QueryDict:
        """What was sent, with its inlines led to the rows that are there by now."""
        return data

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"conflict": getattr(request, "conflict", None)})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A save first makes sure that nothing was saved since the form was opened, but what it has shown."""
        show = partial(super().changeform_view, request, form_url=form_url, extra_context=extra_context)
        if request.method != "POST" or object_id is None or not object_id.isdecimal():
            return show(object_id)
        row = self.get_object(request, object_id)
        if row and not self.has_change_permission(request, row):
            return show(object_id)
        with transaction.atomic():
            # Another team's is as good as gone.
            row = _held(row) if row else None
            conflict = self.conflict_of(request, row)
            if conflict or row is None:
                conflict = self._lead_on(request, row, conflict)
            request.conflict = conflict  # type: ignore[attr-defined]
            with self.saving(request, row):
                return show(object_id if row else None)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        context["conflict"] = getattr(request, "conflict", None)
        if request.method == "POST":
            context |= {name: request.POST.get(name, "") for name in ("seen", "opened")}
        elif obj:
            context |= {"seen": self.fingerprint_of(obj), "opened": opened_with(context["adminform"].form)}
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _lead_on(self, request: HttpRequest, row: Any | None, conflict: Conflict | None) -> Conflict | None:
        """Has the form go on from the state that it is shown with, so that it can be saved."""
        data, both = request.POST.copy(), list[str]()
        if conflict and row:
            form = self.get_form(request, row, change=True)(instance=row)
            data, names = merged(data, form)
            both = [str(form[name].label) for name in names]
        data = self.reconciled(data, row)
        if conflict:
            data["seen"] = conflict.fingerprint
        request.POST = data  # type: ignore[assignment]
        return replace(conflict, both=both) if conflict else None


def _held(row: Model) -> Any | None:
    """As it is now; nobody else changes it until the transaction ends."""
    return type(row)._default_manager.select_for_update(no_key=True).filter(pk=row.pk).first()
