"""Parts of an FAQ's page beside the fields: usage, changed sources and translations."""

from typing import Any

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import get_language_info

from faqs.models import ANSWER_LANGUAGES, FAQ, main_language
from faqs.permissions import may_make, may_publish
from faqs.usage import RECENT, count_usage
from knowledge.models import changed_since


def build_page(request: HttpRequest, faq: FAQ | None, *, may_change: bool) -> dict[str, Any]:
    """Return the template's further values; a new FAQ has few."""
    context: dict[str, Any] = {"near_url": reverse("admin:faqs_faq_near"), "may_publish_it": may_publish(request.user)}
    if faq is None:
        return context
    present = FAQ.objects.get(pk=faq.pk)
    context["may_publish_it"] &= may_change and present.status != FAQ.Status.PUBLISHED
    return context | {
        "may_change": may_change,
        "needs_publisher": not may_make(request.user, present.status),
        "usage": count_usage(present),
        "usage_days": RECENT.days,
        "changed_sources": present.sources.filter(changed_since("verified_at", "document__"))
        .select_related("document")
        .defer("document__text")
        if present.status != FAQ.Status.RETIRED
        else (),
        "has_all_answers": len(present.written_answers) == len(ANSWER_LANGUAGES),
        "is_behind": FAQ.objects.behind_their_original().filter(pk=present.pk).exists(),
        **list_translations(present, request),
    }


def list_translations(faq: FAQ, request: HttpRequest) -> dict[str, Any]:
    """List the translations of an FAQ, the original first, and the addresses where the missing ones are written."""
    original = faq.translation_of or faq
    group = list(
        FAQ.objects.visible_to(request.user)
        .filter(Q(pk=original.pk) | Q(translation_of=original.pk))
        .exclude(pk=faq.pk)
        .order_by("translation_of_id", "language")
    )
    behind = set(FAQ.objects.behind_their_original().filter(translation_of=original.pk).values_list("pk", flat=True))
    taken = {main_language(each.language) for each in (faq, original, *group)}
    taken |= {main_language(each) for each in original.translations.values_list("language", flat=True)}
    missing = [
        {"name": get_language_info(code)["name_translated"], "url": _build_add_url(original, code)}
        for code, _name in settings.LANGUAGES
        if code not in taken
    ]
    return {
        "group": [
            {"faq": each, "is_original": each.pk == original.pk, "is_behind": each.pk in behind} for each in group
        ],
        "missing_translations": missing if request.user.has_perm("faqs.add_faq") else [],
    }


def _build_add_url(original: FAQ, language: str) -> str:
    """Return the address of a new form, filled with what a translation shares with its original."""
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
