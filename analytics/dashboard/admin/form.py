"""The dashboard's filters, read from its address."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from analytics.dashboard.overview import Choices, Reach
from analytics.dashboard.visibility import View
from analytics.periods import EARLIEST, LONGEST, MOST_DAYS, Period, Range, Step, period_for, step_for
from chat.models.assistants import Language
from core.access import Staff

RANGE_NAMES = {
    Range.TODAY: _("Today"),
    Range.WEEK: _("7 days"),
    Range.MONTH: _("30 days"),
    Range.QUARTER: _("90 days"),
    Range.SEMESTER: _("This semester"),
    Range.LAST_SEMESTER: _("Last semester"),
    Range.YEAR: _("This year"),
    Range.ALL: _("All"),
}
OF_ANOTHER = _("This page with the chat belongs to another assistant.")
STEP_NAMES = {Step.DAY: _("Day"), Step.WEEK: _("Week"), Step.MONTH: _("Month")}
TOO_LONG = {
    Step.DAY: ngettext_lazy("By day at most %(days)d day is shown.", "By day at most %(days)d days are shown.", "days"),
    Step.WEEK: ngettext_lazy(
        "By week at most %(days)d day is shown.", "By week at most %(days)d days are shown.", "days"
    ),
}


class DayField(forms.DateField):
    """A day within what anything is counted of."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
        super().__init__(required=False, widget=widget, input_formats=["%Y-%m-%d"], localize=False, **options)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value and value < EARLIEST:
            raise forms.ValidationError(_("The first year that can be shown is %(year)d."), params={"year": 2000})


class DashboardForm(forms.Form):
    """Bound to an address; `view()` is what it asks for."""

    step = forms.ChoiceField(label=_("By"), required=False, choices=[("", _("automatic")), *STEP_NAMES.items()])
    assistant = forms.ChoiceField(label=_("Assistant"), required=False)
    site = forms.ChoiceField(label=_("Page with the chat"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False, choices=[("", _("all")), *Language.choices])

    field_order: Sequence[str] = ("from", "to", "step", "assistant", "site", "language")

    def __init__(self, address: QueryDict, *, choices: Choices, reach: Reach, today: datetime.date) -> None:
        self.today, self._choices = today, choices
        self.range = range_in(address)
        super().__init__(_days_filled_in(address, self.field_order, self.range, today=today, reach=reach))
        # No class attribute can be called "from".
        self.fields["from"] = DayField(label=_("From"))
        self.fields["to"] = DayField(label=_("To"))
        self.order_fields(self.field_order)
        chosen: Any = self.fields
        chosen["assistant"].choices = [("", _("all")), *_named(choices.assistants.items())]
        chosen["site"].choices = [("", _("all")), *_named(site_names(choices).items())]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        self.check_days(data, "from", "to", are_needed=self.range is None)
        site, assistant = data.get("site"), data.get("assistant")
        if site and assistant and self._choices.sites[int(site)][1] != int(assistant):
            self.add_error("site", OF_ANOTHER)
        return data

    def check_days(self, data: Mapping[str, Any], from_field: str, to_field: str, *, are_needed: bool) -> None:
        """Add an error to the field of a day that is missing or wrong."""
        first, last = data.get(from_field), data.get(to_field)
        if are_needed and not self.errors and not (first and last):
            self.add_error(to_field if first else from_field, _("Please choose a day."))
        if first and first > self.today:
            self.add_error(from_field, _("This day is still to come."))
        elif first and last and last < first:
            self.add_error(to_field, _("The last day is before the first one."))
        elif first and last:
            self._check_length(Period(first, min(last, self.today)), data.get("step", ""), from_field)

    def _check_length(self, period: Period, step: str, from_field: str) -> None:
        if period.days > MOST_DAYS:
            self.add_error(from_field, _("At most ten years are shown."))
        elif step and period.days > LONGEST[Step(step)]:
            limit = LONGEST[Step(step)]
            self.add_error("step", forms.ValidationError(TOO_LONG[Step(step)], params={"days": limit}))

    def view(self, by: Staff) -> View:
        """Return what a valid form chooses, without days that are still to come."""
        data = self.cleaned_data
        period = Period(data["from"], min(data["to"], self.today))
        return View(
            period=period,
            step=Step(data["step"]) if data.get("step") else step_for(period),
            by=by,
            assistant=int(data["assistant"]) if data["assistant"] else None,
            site=int(data["site"]) if data["site"] else None,
            language=data["language"],
        )


def site_names(choices: Choices, *, of_one: bool = False) -> dict[int, str]:
    """Return the sites' names, with their assistants unless `of_one`: two may have a site of the same name."""
    if of_one or len(choices.assistants) < 2:
        return {pk: name for pk, (name, _of) in choices.sites.items()}
    return {pk: f"{name} ({choices.assistants[of]})" for pk, (name, of) in choices.sites.items()}


def range_in(address: QueryDict) -> Range | None:
    """Return the chosen range. Days outweigh a range's name; without either it is the last 30 days."""
    if address.get("from") or address.get("to"):
        return None
    name = address.get("range") or Range.MONTH.value
    return Range(name) if name in set(Range) else None


def _days_filled_in(
    address: QueryDict, fields: Iterable[str], named: Range | None, *, today: datetime.date, reach: Reach
) -> Mapping[str, str]:
    data = {name: address.get(name, "") for name in fields}
    if named:
        period = period_for(named, today=today, first_day=reach.first_day)
        data |= {"from": period.first.isoformat(), "to": period.last.isoformat()}
    return data


def _named(rows: Iterable[tuple[int, str]]) -> list[tuple[str, str]]:
    return [(str(pk), name) for pk, name in rows]
