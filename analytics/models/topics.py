"""Topics of everything that students asked, and their counts, which outlive the questions."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.models.counts import Counted
from analytics.models.gaps import Gap
from chat.models import Assistant, Message
from chat.models.assistants import Language, OfAssistants


class Topic(models.Model):
    """Questions of one meaning to one assistant, in whatever language; it stays the same row from night to night.

    A topic that staff named or pinned is never joined to another one by itself. One that was joined leads to the other
    by `merged_into`. `centroid` is a unit vector as float16 of the model `recipe`, kept for when its questions are too
    old or deleted. `version` counts what staff did to it: who saves with an older one is told first.
    """

    name = models.CharField(_("name"), max_length=200, blank=True)
    named_by = models.CharField(max_length=12, choices=Gap.NamedBy, default=Gap.NamedBy.QUESTION, editable=False)
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="topics", verbose_name=_("assistant")
    )
    # The question that it is named after: what is deleted names nothing any longer.
    named_after = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    language = models.CharField(_("language"), max_length=2, choices=Language, default=Language.ENGLISH)
    is_pinned = models.BooleanField(_("pinned"), default=False)
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="merged")
    version = models.PositiveIntegerField(default=0)
    centroid = models.BinaryField()
    recipe = models.CharField(max_length=32)
    created_at = models.DateTimeField(_("found"), default=timezone.now, editable=False)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("topic")
        verbose_name_plural = _("topics")
        ordering = ["pk"]
        default_permissions = ("view", "change")

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the question that a topic is named after."""
        return f"#{self.pk}"

    @property
    def title(self) -> str:
        """Return the name that staff read."""
        return self.name or gettext("Questions that were deleted")

    @property
    def is_kept(self) -> bool:
        """Return whether it stays as it is, whatever else is asked."""
        return self.is_pinned or self.named_by == Gap.NamedBy.STAFF

    @property
    def is_joined_by_staff(self) -> bool:
        """Return whether staff joined it to another one, and not a night."""
        return bool(self.merged_into_id and self.version)


class TopicQuestion(models.Model):
    """A question of a topic; `centrality` is its cosine to the middle of those in its language.

    `joined_from` is the topic that it was in before staff joined that one to this one.
    """

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="topic_question")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="questions")
    joined_from = models.ForeignKey(Topic, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    centrality = models.FloatField(default=0)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["topic", "-centrality"])]

    def __str__(self) -> str:
        return f"{self.topic_id}: {self.message_id}"


class TopicCount(Counted):
    """Questions of a topic, by what became of them; `answers` is how many there were, whatever became of them.
    `newcomers_up` and `newcomers_down` are those who rated one of their first day. `joined_from` is as of a question;
    days that are counted again have none."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    joined_from = models.ForeignKey(Topic, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    answers = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    handed_over = models.PositiveIntegerField(default=0)
    thumbs_up = models.PositiveIntegerField(default=0)
    thumbs_down = models.PositiveIntegerField(default=0)
    newcomers_up = models.PositiveIntegerField(default=0)
    newcomers_down = models.PositiveIntegerField(default=0)
