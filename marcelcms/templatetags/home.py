"""What the admin's first page begins with."""

from typing import Any

from django import template

from marcelcms.home import Section, sections_for

register = template.Library()


@register.simple_tag(takes_context=True)
def needs_today(context: Any) -> list[Section]:
    return sections_for(context["request"].user)
