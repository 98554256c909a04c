"""The FAQ that is meant to answer a gap, how far that is, and the search for other pages before it is made."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.gaps.suggestions import missing_phrasings
from analytics.inbox.items import TO_DO
from analytics.models import Gap
from faqs.models import FAQ, FAQSource
from knowledge.models import Document


class PageSearch(forms.Form):
    """Finds pages by their titles, as the form of an FAQ does; they are sent with those that are ticked."""

    documents = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Search for other pages"),
        queryset=Document.objects.none(),
        required=False,
        widget=AutocompleteSelectMultiple(FAQSource._meta.get_field("document"), admin.site),
    )


def filling_context(gap: Gap, *, may_add: bool) -> dict[str, Any]:
    """Return what the page says of a gap's FAQ, with the phrasings that it still lacks for who `may_add` them."""
    faq = gap.faq
    if faq is None:
        return {}
    return {
        "filled_by": faq,
        "said_of_filling": describe_filling(gap, faq),
        "missing_phrasings": missing_phrasings(gap, faq) if may_add else [],
    }


def describe_filling(gap: Gap, faq: FAQ) -> str:
    """Say whether the gap was asked again since its FAQ changed; empty if it is answered or closed."""
    if gap.state not in TO_DO:
        return ""
    if faq.status != FAQ.Status.PUBLISHED:
        return _("Once this FAQ is published, the topic is asked again within a minute.")
    at = gap.asked_again_at
    if at is None or at < faq.updated_at or not gap.unanswered_because:
        return _("The FAQ is published; the topic is asked again within a minute.")
    said = {
        "reason": Gap.Unanswered(gap.unanswered_because).label,
        "at": date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT"),
    }
    return _("Asked again: still not answered, because %(reason)s (%(at)s).") % said
