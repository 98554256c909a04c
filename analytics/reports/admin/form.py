"""The form of a report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.counts.outcomes import OUTCOMES
from analytics.dashboard.admin.form import OF_ANOTHER, site_names
from analytics.dashboard.overview import choices_for
from analytics.dashboard.rankings import topics_to_name
from analytics.mails import NO_MAILS, sends_mails
from analytics.models import Report, Review, Topic
from analytics.periods import Period
from analytics.reports.columns import COLUMNS, USUAL
from analytics.reports.definition import NO_VERDICT, SPANS, THUMBS, Definition, Format, Span
from analytics.reports.formats.writers import offered_formats
from chat.models import Assistant, Message, Site
from chat.models.assistants import Language

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Days of a report at most; nobody keeps conversations for longer.
MOST_DAYS = 3_660
STATUSES = [choice for choice in Message.Status.choices if choice[0] != Message.Status.GENERATING]
#: Which answers an address may ask for; columns and file are the reader's choice.
ASKED, ASKED_MANY = (
    ("span", "first", "last", "site", "language", "thumbs"),
    ("assistants", "statuses", "topics", "outcomes"),
)
EVERY = ("", gettext_lazy("all"))


class ReportForm(forms.Form):
    """`order` has all columns in the order of the page, `columns` those that are ticked."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100, required=False)
    is_shared = forms.BooleanField(
        label=gettext_lazy("Share with colleagues"),
        required=False,
        help_text=gettext_lazy("They get the answers that they may see themselves."),
    )
    rhythm = forms.ChoiceField(
        label=gettext_lazy("By e-mail to me"),
        choices=Report.Rhythm.choices,
        required=False,
        help_text=gettext_lazy("With the figures of the week or month as a PDF, and a link to the file."),
    )
    span = forms.ChoiceField(label=gettext_lazy("Period"), choices=list(SPANS.items()), initial=Span.LAST_30)
    first = forms.DateField(
        label=gettext_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    last = forms.DateField(
        label=gettext_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    assistants = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Assistants"),
        queryset=Assistant.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: all that you look after."),
    )
    site = forms.ModelChoiceField(
        label=gettext_lazy("Page with the chat"),
        queryset=Site.objects.none(),
        required=False,
        empty_label=gettext_lazy("all"),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language of the question"), required=False, choices=[EVERY, *Language.choices]
    )
    statuses = forms.MultipleChoiceField(
        label=gettext_lazy("What became of the answer"),
        required=False,
        choices=STATUSES,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: all."),
    )
    outcomes = forms.MultipleChoiceField(
        label=gettext_lazy("What became of the conversation"),
        required=False,
        choices=list(OUTCOMES.items()),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: all."),
    )
    topics = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Topics"),
        required=False,
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: all answers, also those of no topic."),
    )
    thumbs = forms.ChoiceField(
        label=gettext_lazy("Rating by the student"), required=False, choices=[EVERY, *THUMBS.items()]
    )
    verdict = forms.ChoiceField(
        label=gettext_lazy("Verdict of the review"),
        required=False,
        choices=[EVERY, (NO_VERDICT, gettext_lazy("none yet")), *Review.Verdict.choices],
    )
    order = forms.MultipleChoiceField(choices=[(key, key) for key in COLUMNS], widget=forms.MultipleHiddenInput)
    columns = forms.MultipleChoiceField(
        choices=[(key, key) for key in COLUMNS],
        error_messages={"required": gettext_lazy("Tick at least one column.")},
    )
    format = forms.ChoiceField(label=gettext_lazy("File"), choices=offered_formats, initial=Format.XLSX)

    def __init__(self, *args: Any, user: "User", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, model in (("assistants", Assistant), ("site", Site)):
            field: Any = self.fields[name]
            field.queryset = model.objects.visible_to(user)
        topics: Any = self.fields["topics"]
        topics.choices = topic_choices(user)
        if not sends_mails():
            rhythm = self.fields["rhythm"]
            rhythm.disabled, rhythm.help_text = True, NO_MAILS
        names = site_names(choices_for(user))
        field.label_from_instance = lambda site: names.get(site.pk, site.name)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        site, assistants = given.get("site"), given.get("assistants")
        if site and assistants and site.assistant_id not in {assistant.pk for assistant in assistants}:
            self.add_error("site", OF_ANOTHER)
        if given.get("span") != Span.FIXED or self.has_error("first") or self.has_error("last"):
            return given
        first, last = given.get("first"), given.get("last")
        for name, day in (("first", first), ("last", last)):
            if day is None:
                self.add_error(name, _("Choose a day, or another period."))
            elif not 2000 <= day.year <= 9000:
                self.add_error(name, _("There was no assistant in that year."))
        if first and last and last < first:
            self.add_error("last", _("The period ends before it begins."))
        elif first and last and Period(first, last).days > MOST_DAYS:
            self.add_error("last", _("Choose ten years at most."))
        return given

    @property
    def definition(self) -> Definition:
        """Return the definition of a valid form."""
        given = self.cleaned_data
        is_fixed = given["span"] == Span.FIXED
        return Definition(
            columns=tuple(key for key in ordered(given["order"]) if key in given["columns"]),
            format=Format(given["format"]),
            span=Span(given["span"]),
            first=given["first"] if is_fixed else None,
            last=given["last"] if is_fixed else None,
            assistants=tuple(given["assistants"].order_by("pk").values_list("pk", flat=True)),
            site=given["site"].pk if given["site"] else None,
            language=given["language"],
            statuses=tuple(given["statuses"]),
            thumbs=given["thumbs"],
            verdict=given["verdict"],
            topics=tuple(sorted(given["topics"])),
            outcomes=tuple(given["outcomes"]),
        )


def topic_choices(user: "User") -> list[tuple[int, str]]:
    """Return the topics to choose from; with several assistants each says whose it is."""
    topics = topics_to_name(user)
    if len({topic.assistant_id for topic in topics}) < 2:
        return [(topic.pk, topic.title) for topic in topics]
    return [(topic.pk, f"{topic.title} ({topic.assistant or _('deleted')})") for topic in topics]


def ordered(keys: list[str]) -> list[str]:
    """Return every column once: those given first, in their order."""
    return list(dict.fromkeys([*keys, *COLUMNS]))


def initial_values(definition: Definition | None) -> dict[str, Any]:
    """Return the form's initial values; `definition` is None for a new report."""
    wanted = definition or Definition(columns=USUAL)
    days = {"first": wanted.first, "last": wanted.last}
    return {**wanted.dump(), **days, "topics": _followed(wanted.topics), "order": ordered(list(wanted.columns))}


def _followed(topics: Sequence[int]) -> list[int]:
    """Return the topics that these are today: one may have been joined to another one."""
    joined = Topic.objects.filter(pk__in=topics).exclude(merged_into=None) if topics else Topic.objects.none()
    into = dict(joined.values_list("pk", "merged_into"))
    return sorted({into.get(pk) or pk for pk in topics})


def asked_data(address: QueryDict) -> dict[str, Any]:
    """Return a new report as if the form had sent it, with the answers that an address asks for."""
    given: dict[str, Any] = {name: address[name] for name in ASKED if name in address}
    return as_data(None) | given | {name: address.getlist(name) for name in ASKED_MANY if name in address}


def as_data(definition: Definition | None) -> dict[str, Any]:
    """Return a definition as if the form had sent it, to preview a saved report."""
    return {name: value for name, value in initial_values(definition).items() if value is not None}


def moved(order: list[str], move: str) -> list[str]:
    """Return the order after `move`, such as `question:up`; a wrong move changes nothing."""
    key, _colon, way = move.partition(":")
    columns = ordered([each for each in order if each in COLUMNS])
    if key not in columns or way not in {"up", "down"}:
        return columns
    at = columns.index(key)
    to = max(0, at - 1) if way == "up" else min(len(columns) - 1, at + 1)
    columns.insert(to, columns.pop(at))
    return columns


def check_name(name: str) -> str:
    """Return the cleaned name. Raise ValidationError."""
    if not name.strip():
        raise ValidationError({"name": _("Give it a name to save it under.")})
    return " ".join(name.split())
