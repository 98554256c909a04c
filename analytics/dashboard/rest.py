"""The dashboard's figures, of the same period and under the same limits as its page shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.dashboard.admin.comparison_form import ComparisonForm
from analytics.dashboard.admin.form import site_names
from analytics.dashboard.comparison import compare, publishable_overview
from analytics.dashboard.overview import Choices, Overview, choices_for, reach
from analytics.dashboard.suppression import OPINIONS
from analytics.dashboard.types import NUMBERS
from analytics.dashboard.visibility import View
from analytics.dashboard.worth import read_assumptions, weigh
from analytics.models import Gap
from analytics.periods import Step
from chat.models.assistants import Language
from core.rest.views import StaffViewSet

VIEW_GAP = "analytics.view_gap"
RATIOS = (
    *("rating", "questions_a_conversation", "abstained_share", "liked_share", "held_back_share", "rightly_share"),
    "resolution_rate",
)
HIDDEN = "null: too few people are known to be behind it, or behind what it leaves out."


class PeriodShown(serializers.Serializer):
    first = serializers.DateField()
    last = serializers.DateField()


class TotalsShown(serializers.Serializer):
    """Sums; visitors are counted once a day, newcomers once in all: on the day on which they agreed. Shares are from
    0 to 1, null where nothing is to be shared. Thumbs, ratings, stars, outcomes of conversations and contacts used,
    and their shares, are null where too few people may be behind them."""

    def get_fields(self) -> dict[str, Any]:
        opinions = {name for names in OPINIONS.values() for name in names}
        sums = {name: serializers.IntegerField(allow_null=name in opinions) for name in NUMBERS}
        return {**sums, **{name: serializers.FloatField(allow_null=True) for name in RATIOS}}


class StepShown(serializers.Serializer):
    start = serializers.DateField()
    is_whole = serializers.BooleanField(help_text="Whether the period holds all of this day, week or month.")
    totals = TotalsShown(allow_null=True, help_text=HIDDEN)


class SpreadShown(serializers.Serializer):
    hours = serializers.ListField(
        child=serializers.IntegerField(allow_null=True), help_text="Questions by hour of the day."
    )
    reasons = serializers.DictField(
        child=serializers.IntegerField(allow_null=True), help_text="Bad ratings by their reasons."
    )
    first_token = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="Median and 95th percentile in milliseconds."
    )
    total = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="Median and 95th percentile in milliseconds."
    )


class PartShown(serializers.Serializer):
    key = serializers.CharField(help_text="An id or a language’s code; empty: nobody’s.")
    name = serializers.CharField(help_text="Empty where it is deleted.")
    questions = serializers.IntegerField()
    questions_before = serializers.IntegerField(allow_null=True)


class PartsShown(serializers.Serializer):
    assistant = PartShown(many=True)
    site = PartShown(many=True)
    language = PartShown(many=True)


class DocumentRanked(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    answers = serializers.IntegerField()
    answers_before = serializers.IntegerField(source="before", allow_null=True, help_text=HIDDEN)


class FAQRanked(DocumentRanked):
    thumbs_up = serializers.IntegerField(allow_null=True, help_text=HIDDEN)
    thumbs_down = serializers.IntegerField(allow_null=True, help_text=HIDDEN)


class TitleShown(serializers.Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField()


class NeverCitedShown(serializers.Serializer):
    count = serializers.IntegerField()
    documents = TitleShown(many=True)


class GapListed(serializers.ModelSerializer):
    class Meta:
        model = Gap
        fields = ["id", "name", "state", "visitors"]


class WorthShown(serializers.Serializer):
    minutes = serializers.FloatField(
        allow_null=True, help_text="Minutes of work that were saved, by the assumption of the dashboard."
    )
    cost = serializers.FloatField(allow_null=True, help_text="Of the language model; null where no price is set.")
    cost_a_conversation = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()


class MissingShown(serializers.Serializer):
    faqs = serializers.IntegerField()
    documents = serializers.IntegerField()
    gaps = serializers.IntegerField()


class FiguresShown(serializers.Serializer):
    now = TotalsShown()
    before = TotalsShown(allow_null=True, help_text=HIDDEN)
    worth = WorthShown()
    worth_before = WorthShown(allow_null=True, help_text=HIDDEN)
    steps = StepShown(source="points", many=True)
    spread = SpreadShown()
    spread_before = SpreadShown(allow_null=True, help_text=HIDDEN)
    parts = PartsShown()
    faqs = FAQRanked(many=True, help_text="Those that influenced most answers.")
    documents = DocumentRanked(many=True, help_text="Those that most answers cite.")
    never_cited = NeverCitedShown(
        help_text="Published documents that no answer of the period cites, or answers to fewer than smallest_group."
    )
    gaps = GapListed(many=True, allow_null=True, help_text="Today’s; null for who may not see gaps.")
    missing = MissingShown(
        allow_null=True,
        help_text="Rows that are left out because too few people are known to be behind them. null: their number would"
        " reveal them.",
    )


@extend_schema_serializer(many=False)
class DashboardShown(serializers.Serializer):
    period = PeriodShown()
    before = PeriodShown(help_text="As many days right before, or those of what is compared.")
    step = serializers.ChoiceField(choices=[step.value for step in Step])
    smallest_group = serializers.IntegerField(help_text="The fewest visitors that a figure may be about.")
    figures = FiguresShown(allow_null=True, help_text=HIDDEN)


PARAMETERS = [
    OpenApiParameter("from", OpenApiTypes.DATE, description="The first day; without both, the last 30 days."),
    OpenApiParameter("to", OpenApiTypes.DATE, description="The last day; ten years at most, a year by day."),
    OpenApiParameter("step", enum=[step.value for step in Step], description="By default what suits the period."),
    OpenApiParameter("assistant", OpenApiTypes.INT, description="Its id."),
    OpenApiParameter("site", OpenApiTypes.INT, description="Its id."),
    OpenApiParameter("language", enum=Language.values),
    OpenApiParameter(
        "compare",
        OpenApiTypes.STR,
        description="What `before` is: by default as many days right before; year: the same days a year before;"
        " dates: those from compare_from to compare_to; assistant:ID, site:ID or language:CODE: the same days there.",
    ),
    OpenApiParameter("compare_from", OpenApiTypes.DATE, description="The first day, with compare=dates."),
    OpenApiParameter("compare_to", OpenApiTypes.DATE, description="The last day, with compare=dates."),
]


class FigureViewSet(StaffViewSet):
    serializer_class = DashboardShown
    pagination_class: Any = None
    filter_backends: Any = ()
    needs = {"list": ["analytics.view_dashboard"]}

    @extend_schema(
        summary="The dashboard’s figures of a period",
        parameters=PARAMETERS,
        responses=DashboardShown,
    )
    def list(self, request: Request) -> Response:
        form, choices = read_choices(request, ComparisonForm)
        view, other = form.sides(request.user)
        found = publishable_overview(view, with_gaps=request.user.has_perm(VIEW_GAP))
        if found and other:
            found, _beside = compare(found, other.view)
        shown = {
            "period": view.period,
            "before": other.view.period if other else view.period.before,
            "step": view.step,
            "smallest_group": view.least,
            "figures": figures_data(found, view, choices) if found else None,
        }
        return Response(DashboardShown(shown).data)


def read_choices(
    request: Request, form_class: type[ComparisonForm], *, without: Sequence[str] = ()
) -> tuple[ComparisonForm, Choices]:
    """Return the valid form of a request's filters, and what can be chosen in it. Raise ValidationError."""
    known = [name for name in form_class.field_order if name not in without]
    for name, value in request.query_params.items():
        if name not in known:
            said = _("There is no such filter here: %(known)s.") % {"known": ", ".join(sorted(known))}
            raise serializers.ValidationError({name: said})
        if not value:
            raise serializers.ValidationError({name: _("Give a value, or leave this out.")})
    choices = choices_for(request.user)
    named = {str(pk): pk for pk in choices.assistants}
    reached = reach(request.user, named.get(request.query_params.get("assistant", "")))
    form = form_class(request.query_params, choices=choices, reach=reached, today=timezone.localdate())
    if not form.is_valid():
        raise serializers.ValidationError({name: list(said) for name, said in form.errors.items()})
    return form, choices


def figures_data(found: Overview, view: View, choices: Choices) -> dict[str, Any]:
    """Return an overview as FiguresShown takes it."""
    names = ("now", "before", "points", "spread", "spread_before", "faqs", "documents")
    assumed = read_assumptions()
    never = [{"id": pk, "title": title} for pk, title in found.never.documents]
    return {
        **{name: getattr(found, name) for name in names},
        "worth": weigh(found.now, assumed),
        "worth_before": weigh(found.before, assumed) if found.before else None,
        "parts": parts_data(found, choices),
        "never_cited": {"count": found.never.count, "documents": never},
        "gaps": found.gaps if view.by.has_perm(VIEW_GAP) else None,
        "missing": {"faqs": 0, "documents": 0, "gaps": 0} if view.least <= 1 else None,
    }


def parts_data(found: Overview, choices: Choices) -> dict[str, list[dict[str, Any]]]:
    """Return the parts by assistant, site and language, the largest first."""
    names: Mapping[str, Mapping[str, str]] = {
        "assistant": {str(pk): name for pk, name in choices.assistants.items()},
        "site": {str(pk): name for pk, name in site_names(choices).items()},
        "language": {str(code): str(label) for code, label in Language.choices},
    }
    parts: dict[str, list[dict[str, Any]]] = {}
    for name, known in names.items():
        earlier = found.spread_before.parts[name] if found.spread_before else {}
        parts[name] = [
            {
                "key": key,
                "name": known.get(key, ""),
                "questions": part.questions,
                "questions_before": earlier[key].questions if key in earlier else None,
            }
            for key, part in sorted(found.spread.parts[name].items(), key=lambda item: -item[1].questions)
        ]
    return parts
