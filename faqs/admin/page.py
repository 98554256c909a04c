"""What stands around an FAQ's form: its translations, its use, what it is too close to."""

from typing import Any

from django.conf import settings
from django.db.models import F, Q
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import get_language_info

from faqs.admin.publishing import may_make
from faqs.models import FAQ, main_language
from faqs.usage import RECENT, usage_of


def page_of(request: HttpRequest, faq: FAQ | None, *, may_change: bool) -> dict[str, Any]:
    """The template's further values; of a new FAQ there is little to say."""
    context: dict[str, Any] = {"near_url": reverse("admin:faqs_faq_near")}
    if faq is None:
        return context
    present = FAQ.objects.get(pk=faq.pk)
    return context | {
        "may_change": may_change,
        "needs_publisher": not may_make(request.user, present.status),
        "usage": usage_of(present),
        "usage_days": RECENT.days,
        "changed_sources": present.sources.filter(document__altered_at__gt=F("verified_at"))
        .select_related("document")
        .defer("document__text")
        if present.status != FAQ.Status.RETIRED
        else (),
        "is_behind": FAQ.objects.behind_their_original().filter(pk=present.pk).exists(),
        **translations_of(present, request),
    }


def translations_of(faq: FAQ, request: HttpRequest) -> dict[str, Any]:
    """The FAQs of its group, the original first, and where to write those that are missing."""
    original = faq.translation_of or faq
    group = list(
        FAQ.objects.for_staff(request.user)
        .filter(Q(pk=original.pk) | Q(translation_of=original.pk))
        .exclude(pk=faq.pk)
        .order_by("translation_of_id", "language")
    )
    behind = set(FAQ.objects.behind_their_original().filter(translation_of=original.pk).values_list("pk", flat=True))
    taken = {main_language(each.language) for each in (faq, original, *group)}
    taken |= {main_language(each) for each in original.translations.values_list("language", flat=True)}
    missing = [
        {"name": get_language_info(code)["name_translated"], "url": _adding(original, code)}
        for code, _name in settings.LANGUAGES
        if code not in taken
    ]
    return {
        "group": [
            {"faq": each, "is_original": each.pk == original.pk, "is_behind": each.pk in behind} for each in group
        ],
        "missing_translations": missing if request.user.has_perm("faqs.add_faq") else [],
    }


def _adding(original: FAQ, language: str) -> str:
    """An empty form that has what a translation shares with its original."""
    values = QueryDict(mutable=True)
    values.update({"translation_of": str(original.pk), "language": language})
    for name in ("category", "collection"):
        if key := getattr(original, f"{name}_id"):
            values[name] = str(key)
    for name in ("valid_from", "valid_until"):
        if day := getattr(original, name):
            values[name] = day.isoformat()
    values.setlist("document", [str(pk) for pk in original.sources.values_list("document_id", flat=True)])
    return f"{reverse('admin:faqs_faq_add')}?{values.urlencode()}"
