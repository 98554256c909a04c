"""What Django's admin calls by another German word than our pages: a project's catalogue comes before Django's.

Nothing uses it; `makemessages` reads it.
"""

from django.utils.translation import gettext_noop

BUTTONS = (
    gettext_noop("Save and add another"),
    gettext_noop("Save and continue editing"),
    gettext_noop("Save and view"),
)
