"""Overrides of Django's own translations: strings of its admin whose German differs from the word on our pages, or that
its German lacks.

A project's catalogue comes before Django's. No code imports this module; `makemessages` reads it.
"""

from django.utils.translation import gettext_noop

PASSWORDS = (
    gettext_noop("Reset password"),
    gettext_noop("Raw passwords are not stored, so there is no way to see the user’s password."),
    gettext_noop("Enable password-based authentication for this user by setting a password."),
    gettext_noop("This action will <strong>enable</strong> password-based authentication for this user."),
    gettext_noop("Enable password-based authentication"),
    gettext_noop("Disable password-based authentication"),
    gettext_noop("Password-based authentication"),
    gettext_noop("Password-based authentication was disabled."),
    gettext_noop("Enabled"),
    gettext_noop("Disabled"),
    gettext_noop("Set password: %s"),
    gettext_noop("Enter the same password as before, for verification."),
    gettext_noop("Conflicting form data submitted. Please try again."),
    gettext_noop(
        "Whether the user will be able to authenticate using a password or not. If disabled, they may still be able to "
        "authenticate using other backends, such as Single Sign-On or LDAP."
    ),
)
#: Of Django's forms; the library of the API has them in German too, and would speak to staff as to friends.
FIELDS = (
    gettext_noop("Enter a valid URL."),
    gettext_noop("Enter a valid email address."),
)
ADMIN = (
    gettext_noop("After you’ve created a user, you’ll be able to edit more user options."),
    gettext_noop("Cannot delete %(name)s"),
)
BUTTONS = (
    gettext_noop("Save and add another"),
    gettext_noop("Save and continue editing"),
    gettext_noop("Save and view"),
)
LIBRARIES = (
    gettext_noop("access attempt expirations"),
    gettext_noop("periodic task tracks"),
    gettext_noop("clocked"),
    gettext_noop("log entry"),
    gettext_noop("log entries"),
)
