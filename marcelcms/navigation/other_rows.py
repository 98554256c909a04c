"""What the search over everything finds beside the lists of the admin: screens, settings, topics, contradictions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import Truncator, capfirst

from analytics.contradictions.admin import may_see
from analytics.dashboard.rankings import VIEW_TOPIC
from analytics.models import Contradiction
from analytics.topics.listing import find_topics
from core.text import search_words
from knowledge.chunking.plain_text import make_plain

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The section whose screens are also found by the names of their fields.
SETTINGS = "settings"
#: Characters shown of each of two statements.
SIDE = 65
Rows = list[tuple[str, str]]


def find_screens(request: HttpRequest, text: str) -> Rows:
    """Find the screens that the member may open, and settings by the names of their fields. No query."""
    words = [word.casefold() for word in search_words(text)]
    screens, settings = [], []
    for section in admin.site.get_app_list(request):
        for screen in section["models"]:
            name, address = capfirst(str(screen["name"])), screen["admin_url"] or screen["add_url"]
            if _has_words(name, words):
                screens.append((name, address))
            elif section["app_label"] == SETTINGS and "model" in screen:
                labels = (label for label in _labels(screen["model"]) if _has_words(label, words))
                settings += [(f"{name}: {label}", address) for label in labels]
    return screens + settings


def find_topics_named(request: HttpRequest, text: str, most: int) -> Rows:
    """Find topics of what was asked, except those that so few people asked about that the member may not know."""
    if not request.user.has_perm(VIEW_TOPIC):
        return []
    found = find_topics(search_words(text), by=cast("User", request.user), most=most)
    return [(topic.title, reverse("topic", args=[topic.pk])) for topic in found]


def find_contradictions(request: HttpRequest, text: str, most: int) -> Rows:
    """Find open contradictions by the words of one of the two statements; each leads to the list with it alone."""
    user = cast("User", request.user)
    if not may_see(user):
        return []
    rows = Contradiction.objects.visible_to(user).open().order_by("-score", "pk")
    for word in search_words(text):
        rows = rows.filter(Q(first_text__icontains=word) | Q(second_text__icontains=word))
    named = rows.values_list("pk", "first_text", "second_text")[:most]
    return [
        (f"{_begin(first)} – {_begin(second)}", f"{reverse('contradictions')}?{urlencode({'row': pk})}")
        for pk, first, second in named
    ]


def _labels(model: Any) -> Iterator[str]:
    """Return the names of a model's fields that staff fill in."""
    for field in model._meta.get_fields():
        if getattr(field, "editable", False) and not field.auto_created:
            yield str(field.verbose_name)


def _has_words(name: str, words: list[str]) -> bool:
    """Return whether each of the words begins a word of the name."""
    parts = name.casefold().replace("-", " ").split()
    return bool(words) and all(any(part.startswith(word) for part in parts) for word in words)


def _begin(statement: str) -> str:
    return Truncator(make_plain(statement)).chars(SIDE)
