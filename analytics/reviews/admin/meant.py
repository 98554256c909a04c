"""The choice of the FAQ that a reviewed question means, with a search among those that are not offered."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import JsonResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.models import Review
from faqs.models import FAQ, ConfirmedQuestion, FAQQuerySet

#: What says that the FAQ was searched for.
ANOTHER = "another"
#: FAQs found that are sent at once.
AT_ONCE = 20


class FAQSelect(AutocompleteSelect):
    """Chosen by words of the question, among the FAQs that a review's question can mean."""

    def __init__(self, review: Review) -> None:
        field: Any = ConfirmedQuestion._meta.get_field("faq")
        super().__init__(field, admin.site, attrs={"data-width": "100%"})
        self.review = review

    def get_url(self) -> str:
        return reverse("admin:analytics_review_faqs", args=[self.review.pk])


class AnotherFAQForm(forms.Form):
    """The search; what was chosen before is offered above it."""

    another = forms.ModelChoiceField(label=_("Search by words of the FAQ"), queryset=FAQ.objects.none(), required=False)

    def __init__(self, review: Review) -> None:
        super().__init__(label_suffix="")
        field: Any = self.fields["another"]
        field.widget = FAQSelect(review)
        field.widget.choices = field.choices


def read_meant(posted: QueryDict, *, may_search: bool) -> str:
    """Return the FAQ's id or what else was chosen. Raise ValidationError."""
    meant = posted.get("meant", "")
    if meant != ANOTHER or not may_search:
        return meant
    if not (found := posted.get("another", "")):
        raise ValidationError(gettext("Search for the FAQ that is meant, and choose it. Nothing was changed."))
    return found


def list_found(faqs: FAQQuerySet, asked: QueryDict) -> JsonResponse:
    """Return the FAQs with the words that were typed, a page at a time, in the form that the search box reads."""
    found = faqs.with_words(asked.get("term", "")).only("question").order_by("question", "pk")
    page = Paginator(found, AT_ONCE).get_page(asked.get("page"))
    results = [{"id": str(faq.pk), "text": faq.question} for faq in page]
    return JsonResponse({"results": results, "pagination": {"more": page.has_next()}})
