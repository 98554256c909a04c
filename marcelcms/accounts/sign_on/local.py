"""Who may log in with a name and a password of this product."""

from django.conf import settings
from django.contrib.auth.models import User

from marcelcms.accounts.sign_on import directory
from marcelcms.models import DirectoryIdentity


def is_break_glass(user: User) -> bool:
    """Return whether this is the account that logs in when the directory does not."""
    return bool(settings.BREAK_GLASS_USER) and user.get_username() == settings.BREAK_GLASS_USER


def may_log_in_locally(user: User) -> bool:
    """Return whether a right password is enough: those of the directory log in there, so that lost groups count."""
    if not directory.is_configured() or is_break_glass(user):
        return True
    return settings.LOCAL_LOGIN and not DirectoryIdentity.objects.filter(user=user).exists()
