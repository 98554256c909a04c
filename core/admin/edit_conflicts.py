"""A form that does not save over what was saved since it was opened, before that was shown."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _

from core.admin.markdown_widget import MarkdownTextarea
from core.diffs import Comparison
from core.hashing import fingerprint

if TYPE_CHECKING:
    from django.forms import BaseForm, BoundField

#: In place of a fingerprint: of a row that is gone.
GONE = "gone"
#: A longer value goes with its form as a fingerprint, which tells as well whether it was touched.
LONGEST = 2_000
HASHED = "fingerprint:"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change saved since the form was opened, and its author; `is_own`: in another tab of the user.

    `fingerprint` is that of the state that is shown; `both` are the labels of fields that were changed here and there.
    """

    fingerprint: str
    comparison: Comparison | None = None
    is_own: bool = False
    by: str = ""
    at: datetime | None = None
    both: Sequence[str] = ()

    @property
    def is_gone(self) -> bool:
        return self.fingerprint == GONE

    @property
    def message(self) -> str:
        if self.is_gone:
            return _("This was deleted while you worked on it. What you wrote is still here: nothing is lost.")
        return _("Nothing was saved yet: this was changed while you worked on it. What you wrote is still here.")


def initial_form_values(form: "BaseForm") -> dict[str, str]:
    """Return what a browser sends of an untouched form, for fields of one value each."""
    return {bound.name: _as_sent(bound) for bound in form}


def brief(value: str) -> str:
    """Hash two equal values to the same text."""
    plain = value.replace("\r\n", "\n").strip()
    return plain if len(plain) <= LONGEST else f"{HASHED}{fingerprint(plain)}"


def opened_with(form: "BaseForm") -> str:
    """Return the hidden values that a form has to be sent with."""
    return json.dumps({name: brief(value) for name, value in initial_form_values(form).items()})


def opened(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the sent form was opened with; empty if it does not say."""
    try:
        sent = json.loads(data.get("opened", ""))
    except (ValueError, RecursionError):
        return {}
    return sent if isinstance(sent, dict) else {}


def changed_meanwhile(data: Mapping[str, Any], form: "BaseForm") -> list[str]:
    """Return the fields that changed since the form was opened; `form` has their present values."""
    before = opened(data)
    return [name for name, now in initial_form_values(form).items() if name in before and brief(now) != before[name]]


def merge_form(data: QueryDict, form: "BaseForm") -> tuple[QueryDict, list[str]]:
    """Return the sent values, with present values in fields that were not touched.

    Also return the names of the fields that were changed both here and meanwhile; these stay as they were sent.
    """
    before, now, changed, both = opened(data), initial_form_values(form), data.copy(), []
    for name in changed_meanwhile(data, form):
        sent = brief(data.get(name, ""))
        if sent == before[name]:
            changed[name] = now[name]
        elif sent != brief(now[name]):
            both.append(name)
    changed["opened"] = opened_with(form)
    return changed, both


def _as_sent(bound: "BoundField") -> str:
    shown: Any = bound.field.widget.format_value(bound.value())  # a choice's is a list
    return str((shown[0] if isinstance(shown, list) else shown) or "")


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
        """Keep untouched Markdown as it was, with the blanks at its ends that a text field loses."""
        cleaned = super().clean()
        if self.conflict:
            raise ValidationError(self.conflict.message, code="conflict")
        texts = [name for name, field in self.fields.items() if isinstance(field.widget, MarkdownTextarea)]
        for name in texts:
            stored = self.initial.get(name)
            if isinstance(stored, str) and brief(self.cleaned_data.get(name, "")) == brief(stored):
                self.cleaned_data[name] = stored
        return cleaned


class OptimisticLockAdmin(AnyModelAdmin):
    """To be named before ModelAdmin; its form is a GuardedForm, its template includes `admin/guarded_form.html`."""

    def fingerprint(self, row: Any) -> str:
        """Return a fingerprint of a row's state."""
        raise NotImplementedError

    def find_conflict(self, request: HttpRequest, row: Any | None) -> Conflict | None:
        """Return what was saved since the form was opened; the row is locked, None is a deleted one."""
        raise NotImplementedError

    def saving(self, request: HttpRequest, row: Any | None) -> AbstractContextManager[Any]:
        """Return the context manager that a save happens in."""
        return nullcontext()

    def reconciled(self, data: QueryDict, row: Any | None) -> QueryDict:
        """Return the sent data, with its inlines matched to the rows that exist now."""
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
        """Check before a save that nothing was saved since the form was opened, except what it has shown."""
        show = partial(super().changeform_view, request, form_url=form_url, extra_context=extra_context)
        if request.method != "POST" or object_id is None or not object_id.isdecimal():
            return show(object_id)
        row = self.get_object(request, object_id)
        if row and not self.has_change_permission(request, row):
            return show(object_id)
        with transaction.atomic():
            # Another team's row counts as deleted.
            row = _held(row) if row else None
            conflict = self.find_conflict(request, row)
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
            context |= {"seen": self.fingerprint(obj), "opened": opened_with(context["adminform"].form)}
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _lead_on(self, request: HttpRequest, row: Any | None, conflict: Conflict | None) -> Conflict | None:
        """Let the form continue from the state that it shows, so that it can be saved."""
        data, both = request.POST.copy(), list[str]()
        if conflict and row:
            form = self.get_form(request, row, change=True)(instance=row)
            data, names = merge_form(data, form)
            both = [str(form[name].label) for name in names]
        data = self.reconciled(data, row)
        if conflict:
            data["seen"] = conflict.fingerprint
        request.POST = data  # type: ignore[assignment]
        return replace(conflict, both=both) if conflict else None


def _held(row: Model) -> Any | None:
    """Return the row as it is now, locked until the transaction ends."""
    return type(row)._default_manager.select_for_update(no_key=True).filter(pk=row.pk).first()
