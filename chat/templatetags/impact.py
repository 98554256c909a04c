"""How many documents are to be verified, for the admin's first page."""

from django import template

from chat.impact import documents_to_verify

register = template.Library()


@register.simple_tag
def documents_to_verify_count() -> int:
    return documents_to_verify().count()
