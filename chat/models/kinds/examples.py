"""Kinds of messages that are no question, and examples of them that staff add to an assistant."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from chat.models.assistants import Assistant
from chat.models.kinds.needs import Need

#: The kind of every message that is none of those that are looked for.
ORDINARY = "ordinary"


class Kind(models.TextChoices):
    """The kind of a message that is no question; each has examples of that name."""

    GREETING = "greeting", _("greeting")
    THANKS = "thanks", _("thanks")
    GOODBYE = "goodbye", _("goodbye")
    COMPLAINT = "complaint", _("complaint about the answer")
    INSULT = "insult", _("insult")
    PERSON = "person", _("wish for a person")
    ASSISTANT = "assistant", _("about the assistant")
    OFF_TOPIC = "off-topic", _("off topic")


class KindExample(models.Model):
    """A message whose kind staff name, for one assistant.

    `embedding` is its vector, as `knowledge.retrieval.query_vectors.multilingual_vector` makes it; None until it is
    made, and again when the text changes.
    """

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="kind_examples", verbose_name=_("assistant")
    )
    kind = models.CharField(
        _("what it is"),
        max_length=10,
        choices=[
            (ORDINARY, _("a question, which is looked up")),
            (_("no question"), Kind.choices),
            (_("a cry for help"), Need.choices),
        ],
    )
    text = models.CharField(_("message"), max_length=300)
    embedding = HalfVectorField(null=True, editable=False)

    class Meta:
        verbose_name = _("example of a kind of message")
        verbose_name_plural = _("examples of kinds of messages")
        ordering = ["kind", "pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.text
