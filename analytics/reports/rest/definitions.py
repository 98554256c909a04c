"""The definition of a report in the staff API."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from analytics.counts.outcomes import OUTCOMES
from analytics.reports.admin.form import STATUSES, ReportForm, as_data
from analytics.reports.columns import COLUMNS
from analytics.reports.definition import TUPLES, Definition, Format, Span, Thumbs
from chat.models.assistants import Language
from core.rest.serializers import Body

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_ASSISTANTS, MOST_TOPICS = 1_000, 1_000
#: What `Definition` has of what JSON has otherwise.
TYPES = {**dict.fromkeys(TUPLES, tuple), "format": Format, "span": Span}


class DefinitionShown(serializers.Serializer):
    columns = serializers.ListField(child=serializers.ChoiceField(choices=list(COLUMNS)))
    format = serializers.ChoiceField(choices=[each.value for each in Format])
    span = serializers.ChoiceField(choices=[each.value for each in Span])
    first = serializers.DateField(allow_null=True, help_text="Of a fixed span, as `last`; both days are in it.")
    last = serializers.DateField(allow_null=True)
    assistants = serializers.ListField(child=serializers.IntegerField(), help_text="Their ids; none: all.")
    site = serializers.IntegerField(allow_null=True, help_text="Its id.")
    language = serializers.CharField(help_text="Of the question; empty: all.")
    statuses = serializers.ListField(child=serializers.CharField(), help_text="How answers ended; none: all.")
    outcomes = serializers.ListField(
        child=serializers.CharField(), help_text="What became of the answers’ conversations; none: all."
    )
    topics = serializers.ListField(child=serializers.IntegerField(), help_text="Their ids; none: all answers.")
    thumbs = serializers.CharField(help_text="`up`, `down`, or `none`; empty: all.")
    verdict = serializers.CharField(help_text="Of the review, or `none`; empty: all.")


class Key(serializers.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)


class DefinitionChange(Body):
    columns = serializers.ListField(
        child=serializers.ChoiceField(choices=list(COLUMNS)),
        allow_empty=False,
        max_length=len(COLUMNS),
        required=False,
        help_text="In the order of the file.",
    )
    format = serializers.ChoiceField(choices=[each.value for each in Format], required=False)
    span = serializers.ChoiceField(choices=[each.value for each in Span], required=False)
    first = serializers.DateField(
        allow_null=True, required=False, help_text="Of a fixed span, as `last`; both days are in it."
    )
    last = serializers.DateField(allow_null=True, required=False)
    assistants = serializers.ListField(
        child=Key(), max_length=MOST_ASSISTANTS, required=False, help_text="Their ids; none: all."
    )
    site = Key(allow_null=True, required=False, help_text="Its id.")
    language = serializers.ChoiceField(
        choices=Language.choices, allow_blank=True, required=False, help_text="Of the question; empty: all."
    )
    statuses = serializers.ListField(
        child=serializers.ChoiceField(choices=[status for status, _label in STATUSES]),
        max_length=len(STATUSES),
        required=False,
        help_text="How answers ended; none: all.",
    )
    outcomes = serializers.ListField(
        child=serializers.ChoiceField(choices=list(OUTCOMES)),
        max_length=len(OUTCOMES),
        required=False,
        help_text="What became of the answers’ conversations; none: all.",
    )
    topics = serializers.ListField(
        child=Key(),
        max_length=MOST_TOPICS,
        required=False,
        help_text="Their ids, of topics that one may know of; none: all answers.",
    )
    thumbs = serializers.ChoiceField(
        choices=[each.value for each in Thumbs], allow_blank=True, required=False, help_text="Empty: all."
    )
    verdict = serializers.CharField(
        max_length=30, allow_blank=True, required=False, help_text="Of the review, or `none`; empty: all."
    )


class DefinitionGiven(DefinitionChange):
    """Defaults of a report: what is left out is as in a new one."""

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        fields["columns"].required = True
        return fields


def checked_definition(given: Mapping[str, Any], *, kept: Definition, by: "User") -> Definition:
    """Return `kept` with what is given in its place. Raise ValidationError."""
    values = dict(given)
    for name, typed in TYPES.items():
        if name in values:
            values[name] = typed(values[name])
    form = ReportForm(as_data(replace(kept, **values)), user=by)
    if not form.is_valid():
        raise serializers.ValidationError({"definition": {name: list(said) for name, said in form.errors.items()}})
    return form.definition
