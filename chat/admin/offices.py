"""Offices that students leave a question with: hours, rules, and who answers there."""

import datetime
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.forms import DateInput, Field, ModelForm, TimeInput
from django.http import HttpRequest
from django.utils.dateparse import parse_date
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.models import Case, Office, OfficeHours, OfficeRule
from core.admin.forms import LabelledFormSet
from core.admin.parts import PartInline
from core.admin.scoped import ScopedAdmin, ScopedFilter, visible_teams

if TYPE_CHECKING:
    OfficeModelAdmin = admin.ModelAdmin[Office]
    OfficeModelForm = ModelForm[Office]
    OfficeInline = admin.TabularInline[Any, Office]
else:
    OfficeModelAdmin, OfficeModelForm, OfficeInline = admin.ModelAdmin, ModelForm, admin.TabularInline


#: Fields for further days.
EMPTY_DAYS = 6


class DaysInput(DateInput):
    """The browser's own field for each day, and some empty ones."""

    input_type = "date"

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        inputs = []
        for number, day in enumerate([*(value or ()), *[""] * EMPTY_DAYS]):
            own = {**(attrs or {}), "aria-label": _("Closed on, day %(number)d") % {"number": number + 1}}
            if number and "id" in own:
                own["id"] += f"_{number}"
            inputs.append((super().render(name, day, own, renderer),))
        return format_html('<div class="days">{}</div>', format_html_join(" ", "{}", inputs))

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        return [word.strip() for word in data.getlist(name) if word.strip()]


class DaysField(Field):
    """Days, each in a field of its own; in their order, each once."""

    widget = DaysInput

    def prepare_value(self, value: Any) -> list[str]:
        return [str(day) for day in value or ()]

    def to_python(self, value: Any) -> list[datetime.date]:
        return sorted({_read_day(word) for word in self.prepare_value(value)})

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.prepare_value(initial) != self.prepare_value(data)


def _read_day(word: str) -> datetime.date:
    try:
        day = parse_date(word)
    except ValueError:
        day = None
    if day is None:
        raise ValidationError(
            _("“%(word)s” is no day of the calendar. Choose a day, or empty the field."), params={"word": word}
        )
    return day


class OfficeForm(OfficeModelForm):
    closed_on = DaysField(
        label=gettext_lazy("Closed on"),
        required=False,
        help_text=gettext_lazy(
            "Holidays and other days without hours. More empty fields come with “Save and continue editing”."
        ),
    )


class OfficePart(PartInline, OfficeInline):
    formset = LabelledFormSet
    extra = 0


class OfficeHoursInline(OfficePart):
    model = OfficeHours
    verbose_name_plural = gettext_lazy("Office hours (none: Monday to Friday, not said to students)")

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in {"opens", "closes"}:
            kwargs["widget"] = TimeInput(attrs={"type": "time"}, format="%H:%M")
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class OfficeRuleInline(OfficePart):
    model = OfficeRule
    verbose_name_plural = gettext_lazy("What comes here: the first rule that fits counts, over all offices")


@admin.register(Office)
class OfficeAdmin(ScopedAdmin, OfficeModelAdmin):
    form = OfficeForm
    list_display = ["name", "assistant", "replies", "waiting", "is_default", "is_active"]
    list_filter = [("assistant", ScopedFilter), "is_active"]
    list_select_related = ["assistant"]
    search_fields = ["name", "name_de"]
    show_full_result_count = False
    inlines = [OfficeHoursInline, OfficeRuleInline]
    fieldsets = [
        (None, {"fields": ["assistant", "name", "name_de", "teams", "is_default", "is_active"]}),
        (gettext_lazy("When it replies"), {"fields": ["reply_days", "closed_on"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Office]:
        rows: QuerySet[Office] = super().get_queryset(request)
        waiting = Case.objects.waiting().filter(office=OuterRef("pk")).order_by().values("office")
        # Not joined: all offices would be counted to show a page of them.
        return rows.annotate(waits=Subquery(waiting.annotate(count=Count("pk")).values("count")))

    @admin.display(description=gettext_lazy("replies within (days)"), ordering="reply_days")
    def replies(self, office: Office) -> int:
        return office.reply_days

    @admin.display(description=gettext_lazy("cases that wait"))
    def waiting(self, office: Any) -> int:
        return office.waits or 0

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "teams":
            kwargs |= visible_teams("offices")
        return super().formfield_for_manytomany(db_field, request, **kwargs)
