"""Template filter: Markdown as plain text, for excerpts."""

from django import template

from knowledge.chunking.plain_text import make_plain

register = template.Library()
register.filter("plain_text", make_plain)
