"""Warns whoever publishes or restores FAQs of what to look at again in them."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from faqs.answers.checks import list_warnings
from faqs.models import FAQ

#: FAQs of one action that are compared with pages, each with a search.
MOST_COMPARED = 50


def warn_of_faqs(request: HttpRequest, faqs: Sequence[FAQ]) -> None:
    """Show the warnings of each FAQ, with its question if there are several; nothing is stopped."""
    for number, faq in enumerate(faqs):
        for warned in list_warnings(faq, with_pages=number < MOST_COMPARED):
            where = {"de": _("Answer in German"), "en": _("Answer in English")}.get(warned.language, "")
            parts = [f"“{faq}”" if len(faqs) > 1 else "", where, warned.message]
            messages.warning(request, ": ".join(filter(None, parts)))
    if (count := len(faqs) - MOST_COMPARED) > 0:
        said = ngettext(
            "%d more FAQ was not compared with the pages: open it and save it to see warnings.",
            "%d more FAQs were not compared with the pages: open and save one to see its warnings.",
            count,
        )
        messages.warning(request, said % count)
