"""What a page that asks before a deletion says of the rows that go."""

from collections.abc import Iterable

from django import template
from django.apps import apps

register = template.Library()


@register.filter
def named(listed: Iterable[object]) -> list[str]:
    """Return the rows that were chosen, of Django's nested list of all that goes; the rest is counted."""
    return [row for row in listed if isinstance(row, str)]


@register.filter
def counted(counts: Iterable[tuple[object, int]]) -> list[tuple[str, int]]:
    """Return the counts without tables that have no name for people."""
    named_models = (model._meta for model in apps.get_models() if "verbose_name" in model._meta.original_attrs)
    names = {str(options.verbose_name_plural) for options in named_models}
    return [(str(name), count) for name, count in counts if str(name) in names]
