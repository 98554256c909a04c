"""The dashboard's filters with what is compared, read from its address."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.dashboard.admin.form import DashboardForm, DayField, site_names
from analytics.dashboard.formatting import period_name
from analytics.dashboard.overview import Choices, Reach
from analytics.dashboard.visibility import View
from analytics.periods import Period, step_for
from chat.models.assistants import Language

YEAR, DATES = "year", "dates"
LANGUAGES = {str(code): label for code, label in Language.choices}


@dataclass(frozen=True, slots=True)
class Other:
    """The other side of a comparison; `mine` and `name` are short names of both, `said` says what it is.

    `without` are the splits that differ by what is compared.
    """

    view: View
    mine: str
    name: str
    said: str

    without: tuple[str, ...] = ()


class ComparisonForm(DashboardForm):
    """Filters of one view, and of the one that it is compared with."""

    compare = forms.ChoiceField(label=gettext_lazy("Compare with"), required=False)
    compare_from = DayField(label=gettext_lazy("Compare from"))
    compare_to = DayField(label=gettext_lazy("Compare to"))

    field_order = (*DashboardForm.field_order, "compare", "compare_from", "compare_to")
    #: Of what another one can be chosen.
    places: Sequence[str] = ("assistant", "site", "language")

    def __init__(self, address: QueryDict, *, choices: Choices, reach: Reach, today: datetime.date) -> None:
        super().__init__(address, choices=choices, reach=reach, today=today)
        self._names: Mapping[str, Mapping[str, str]] = {
            "assistant": {str(pk): name for pk, name in choices.assistants.items()},
            "site": {str(pk): name for pk, name in site_names(choices).items()},
            "language": {code: str(label) for code, label in LANGUAGES.items()},
        }
        titles = {"assistant": _("Assistants"), "site": _("Pages with the chat"), "language": _("Languages")}
        places = [
            (title, [(f"{place}:{key}", name) for key, name in self._names[place].items()])
            for place, title in titles.items()
            if place in self.places and len(self._names[place]) > 1
        ]
        field: Any = self.fields["compare"]
        field.choices = [
            ("", _("period before")),
            (YEAR, _("same days a year before")),
            (DATES, _("other dates")),
            *places,
        ]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        chosen = data.get("compare", "")
        if chosen == DATES:
            self.check_days(data, "compare_from", "compare_to", are_needed=True)
        place, _colon, key = chosen.partition(":")
        if key and data.get(place) == key:
            self.add_error("compare", _("This is what is shown: choose another one to compare it with."))
        return data

    def sides(self, by: Any) -> tuple[View, Other | None]:
        """Return what a valid form chooses, and what that is compared with; None: with the period before."""
        mine, chosen = self.view(by), self.cleaned_data["compare"]
        if not chosen:
            return mine, None
        place, _colon, key = chosen.partition(":")
        if key:
            return mine, self._place(mine, place, key)
        other = self._days(mine.period, chosen)
        if not self.cleaned_data.get("step"):
            mine = replace(mine, step=step_for(max(mine.period, other, key=lambda period: period.days)))
        name = _("Year before") if chosen == YEAR else _("Other dates")
        return mine, Other(replace(mine, period=other), _("This period"), name, period_name(other))

    def _days(self, period: Period, chosen: str) -> Period:
        if chosen == YEAR:
            return period.year_before
        return Period(self.cleaned_data["compare_from"], min(self.cleaned_data["compare_to"], self.today))

    def _place(self, mine: View, place: str, key: str) -> Other:
        name = self._names[place][key]
        if place == "language":
            view = replace(mine, language=key)
        elif place == "site":
            view = replace(mine, assistant=None, site=int(key))
        else:
            view = replace(mine, assistant=int(key), site=None)
        without = ("language",) if place == "language" else ("assistant", "site")
        return Other(view, self._name(mine, place), name, name, without)

    def _name(self, view: View, place: str) -> str:
        """Return the name of a view's language, or of its site or assistant."""
        if place == "language":
            return self._names[place].get(view.language) or _("All languages")
        if view.site is not None:
            return self._names["site"][str(view.site)]
        if view.assistant is not None:
            return self._names["assistant"][str(view.assistant)]
        return _("All assistants")
