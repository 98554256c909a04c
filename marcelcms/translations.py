"""Overrides of Django's own translations: strings of its admin whose German differs from the word on our pages, or that
its German lacks.

A project's catalogue comes before Django's. No code imports this module; `makemessages` reads it.
"""

from django.utils.translation import gettext_noop

PASSWORDS = (
    gettext_noop("Reset password"),
    gettext_noop("Raw passwords are not stored, so there is no way to see the user’s password."),
)
BUTTONS = (
    gettext_noop("Save and add another"),
    gettext_noop("Save and continue editing"),
    gettext_noop("Save and view"),
)
