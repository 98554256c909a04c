"""Keys with which programs come in: of each only a hash is kept."""

import hashlib
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _

#: A key in use all day is written to the database once in that time.
NOTED_EVERY = timedelta(minutes=1)


def hash_token(token: str) -> str:
    """Hash a token: it is 256 random bits, so a plain hash hides it as well as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()


class HashedToken(models.Model):
    """A key of which only the hash is kept; it ends with its row."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        abstract = True

    def matches(self, token: str) -> bool:
        """Compare in the same time, wherever the hashes differ."""
        return constant_time_compare(self.digest, hash_token(token))

    def note_use(self) -> None:
        """Write down when it was used, at most once in NOTED_EVERY."""
        now = timezone.now()
        rows: Any = type(self)._default_manager
        is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - NOTED_EVERY)
        rows.filter(is_due, pk=self.pk).update(last_used_at=now)
