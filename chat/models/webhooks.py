"""Webhooks: addresses of other programs that are told of events, and what became of each delivery."""

from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, OfAssistants
from chat.models.conversations import Conversation
from core.access import StaffScoped, sees_everything
from core.outgoing.post import Problem
from core.outgoing.ssrf import is_allowed
from core.outgoing.urls import read_host

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class WebhookEvent(models.TextChoices):
    """The events that webhooks may take; a further one is a line here and a call of `chat.webhooks.announce`."""

    ABSTAINED = "answer.abstained", _("A question got no answer")
    RATED_DOWN = "answer.rated_down", _("A student rated an answer badly")
    CASE_OPENED = "case.opened", _("A student left a question with an office")
    FAQ_PUBLISHED = "faq.published", _("An FAQ was published")


#: What a delivery is of that staff send to try a webhook.
TEST = "test"


def event_title(code: str) -> str:
    """Return what staff know an event by; its code if this version does not know it."""
    names = {**dict(WebhookEvent.choices), TEST: _("Test event")}
    return str(names.get(code, code))


def check_address(url: str) -> None:
    """Raise ValidationError unless this is an https address of a machine that may be reached."""
    host = read_host(url)
    if not host:
        raise ValidationError(_("Write an address that begins with https://, without a password or “#”."))
    with suppress(ValueError):  # a name is looked up when something is sent
        ip_address(host)
        if not is_allowed(host, allow_private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES):
            raise ValidationError(
                _("This server sends nothing to private networks. Whoever runs it can allow that (%(setting)s)."),
                params={"setting": "WEBHOOKS_TO_PRIVATE_ADDRESSES"},
            )


class WebhookQuerySet(OfAssistants["Webhook"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Filter the webhooks all of whose assistants a member of staff works on."""
        if sees_everything(user):
            return self
        own = Assistant.objects.visible_to(user)
        others = Assistant.objects.exclude(pk__in=own.values("pk"))
        return self.filter(assistants__in=own).exclude(assistants__in=others).distinct()

    def taking(self, event: str) -> Self:
        """Filter the active webhooks that take the event."""
        return self.filter(is_active=True, events__contains=[event])

    def turned_off_by_itself(self) -> Self:
        return self.filter(is_active=False).exclude(off_because__in=["", Webhook.Off.STAFF])


class Webhook(models.Model):
    """An address that is told of events. `secret` is encrypted; receivers check signatures with it."""

    class Off(models.TextChoices):
        STAFF = "staff", _("switched off")
        GONE = "gone", _("switched off by itself: the receiver said that it is gone (410)")
        FAILING = "failing", _("switched off by itself: nothing was accepted for days")
        SECRET = "secret", _("switched off by itself: its secret cannot be read since this server has another key")

    name = models.CharField(
        _("name"), max_length=100, help_text=_("What receives the events, such as “Ticket system”.")
    )
    url = models.CharField(
        _("address"),
        max_length=500,
        validators=[check_address],
        help_text=_("Where each event is sent to, such as https://tickets.uni.example/hooks/marcel."),
    )
    events = ArrayField(models.CharField(max_length=30), verbose_name=_("events"), default=list)
    assistants = models.ManyToManyField(
        Assistant,
        related_name="webhooks",
        verbose_name=_("assistants"),
        help_text=_("Events of these are sent; an FAQ is sent if one of them can answer with it."),
    )
    secret = models.TextField(editable=False)
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Off: nothing is sent, and what happens meanwhile is not sent later.")
    )
    off_because = models.CharField(_("state"), max_length=10, choices=Off, blank=True, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["name", "pk"]
        indexes = [models.Index(fields=["name", "id"])]

    def __str__(self) -> str:
        return self.name


class DeliveryQuerySet(StaffScoped["WebhookDelivery"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Filter the deliveries of webhooks that a member of staff works on."""
        return self if sees_everything(user) else self.filter(webhook__in=Webhook.objects.visible_to(user))

    def unfinished(self) -> Self:
        return self.filter(state__in=[WebhookDelivery.State.WAITING, WebhookDelivery.State.SENDING])


class WebhookDelivery(models.Model):
    """One event for one webhook. It is deleted with the conversation that the event is about.

    While it is being sent, `next_attempt_at` is when its worker is taken for lost.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("being sent")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", verbose_name=_("webhook"))
    event_id = models.UUIDField(_("event’s id"))
    event = models.CharField(_("event"), max_length=30)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, null=True, related_name="+")
    body = models.TextField(_("sent text"))
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    last_status = models.PositiveSmallIntegerField(_("HTTP status"), null=True)
    problem = models.CharField(_("problem"), max_length=12, choices=Problem, blank=True)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook delivery")
        verbose_name_plural = _("webhook deliveries")
        ordering = ["-pk"]
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="one_delivery_an_event_and_webhook")
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=models.Q(state__in=["waiting", "sending"]), name="due_deliveries"
            ),
            models.Index(fields=["created_at"]),
        ]

    def __str__(self) -> str:
        return f"{event_title(self.event)} #{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DELIVERED, self.State.FAILED}
