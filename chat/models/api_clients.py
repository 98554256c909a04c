"""Other programs that ask: each with a key, the assistants that it may use, and limits."""

import secrets
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, OfAssistants
from chat.models.conversations import Visitor
from core.access import sees_everything
from core.db.tokens import HashedToken

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

PREFIX = "mk-"
#: Characters of the part of a key that names its row.
ID_CHARACTERS = 8
MOST_A_MINUTE = 6_000


class APIClientQuerySet(OfAssistants["APIClient"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Filter the clients all of whose assistants a member of staff works on."""
        if sees_everything(user):
            return self
        own = Assistant.objects.visible_to(user)
        others = Assistant.objects.exclude(pk__in=own.values("pk"))
        return self.filter(assistants__in=own).exclude(assistants__in=others).distinct()


class APIClient(HashedToken):
    """A program that asks for its own users, such as Open WebUI.

    Its key is `key_id` with a secret behind it. All its questions are those of one `visitor`, who stands for the
    program and for no person.
    """

    class Scope(models.TextChoices):
        ASK = "ask", _("ask: answers with their sources")
        SEARCH = "search", _("search: passages of pages")

    name = models.CharField(_("name"), max_length=100, help_text=_("Which program it is, such as “Open WebUI”."))
    key_id = models.CharField(_("key begins with"), max_length=40, unique=True, editable=False)
    assistants = models.ManyToManyField(
        Assistant,
        related_name="api_clients",
        verbose_name=_("assistants"),
        help_text=_("Which ones the program may use. Each is a model there, by its short name."),
    )
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope), verbose_name=_("what it may do"), default=list)
    per_minute = models.PositiveIntegerField(
        _("requests a minute"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_A_MINUTE)],
        help_text=_("Questions and searches of all its users together."),
    )
    last_day = models.DateField(
        _("last day"), null=True, blank=True, help_text=_("The key works until the end of this day. Empty: no end.")
    )
    is_active = models.BooleanField(_("active"), default=True, help_text=_("Off: the key is refused at once."))
    visitor = models.ForeignKey(
        Visitor, on_delete=models.PROTECT, related_name="api_clients", editable=False, verbose_name=_("visitor")
    )

    objects = APIClientQuerySet.as_manager()

    class Meta:
        verbose_name = _("connected program")
        verbose_name_plural = _("connected programs")
        ordering = ["name", "pk"]
        indexes = [models.Index(fields=["name", "id"])]

    def __str__(self) -> str:
        return self.name

    @property
    def is_expired(self) -> bool:
        return self.last_day is not None and self.last_day < timezone.localdate()


def new_key() -> str:
    """Return a key that is not any client's yet."""
    return f"{PREFIX}{secrets.token_hex(ID_CHARACTERS // 2)}-{secrets.token_urlsafe(32)}"


def read_key_id(key: str) -> str:
    """Return the part of a key that names its row: that much may be shown."""
    return key[: len(PREFIX) + ID_CHARACTERS]
