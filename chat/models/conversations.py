"""Conversations: questions, answers with their sources, and what the visitor thought of them."""

import uuid
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Value
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, OfAssistants
from chat.models.experiments import Arm, Experiment
from chat.models.sites import Site
from faqs.models import FAQ
from knowledge.models import Document, Passage

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    Staff = User | AnonymousUser
else:
    Staff = object


class Visitor(models.Model):
    """Somebody who agreed to be served: a random number, nothing else."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    consented_at = models.DateTimeField(_("agreed"), auto_now_add=True)

    class Meta:
        verbose_name = _("visitor")
        verbose_name_plural = _("visitors")

    def __str__(self) -> str:
        return str(self.pk)[:8]


def may_read_help(user: Staff) -> bool:
    """Return whether this member of staff may read cries for help."""
    return user.has_perm("chat.read_help_message")


class Conversation(models.Model):
    """Its id is chosen by the visitor's browser, so that several first questions at once find one conversation."""

    id = models.UUIDField(primary_key=True, editable=False)
    visitor = models.ForeignKey(
        Visitor, on_delete=models.CASCADE, related_name="conversations", verbose_name=_("visitor")
    )
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="conversations", verbose_name=_("assistant")
    )
    site = models.ForeignKey(
        Site, on_delete=models.SET_NULL, null=True, related_name="conversations", verbose_name=_("page with the chat")
    )
    # What the student said of themselves when asked, as tags `kind:value`; it holds for the rest of the conversation.
    audience = ArrayField(models.CharField(max_length=100), default=list, blank=True, verbose_name=_("audience"))
    title = models.CharField(_("title"), max_length=200, blank=True)
    # The experiment that was running when it began, and its arm: for all of its questions.
    experiment = models.ForeignKey(
        Experiment,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        db_index=False,
        related_name="conversations",
    )
    arm = models.CharField(max_length=5, choices=Arm, blank=True, default="", db_default="", editable=False)
    stars = models.PositiveSmallIntegerField(
        _("stars"), null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(5)]
    )
    created_at = models.DateTimeField(_("begun"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last message"), auto_now=True)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ["-updated_at"]
        indexes = [
            models.Index(fields=["-updated_at"]),
            models.Index(fields=["created_at"]),
            models.Index(fields=["id"], condition=models.Q(stars__lte=2), name="rated_low"),
            models.Index(fields=["experiment"], condition=models.Q(experiment__isnull=False), name="of_experiments"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(stars=None) | models.Q(stars__range=(1, 5)), name="one_to_five_stars"
            )
        ]

    def __str__(self) -> str:
        return str(self.pk)[:8]


class MessageQuerySet(models.QuerySet["Message"]):
    def without_help(self) -> Self:
        """Exclude cries for help and the replies to them: they are nobody's statistics, suggestion or report."""
        return self.exclude(route__in=Message.HELP_ROUTES)

    def readable_by(self, user: Staff) -> Self:
        """Exclude cries for help unless this member of staff has the permission to read them."""
        return self if may_read_help(user) else self.without_help()


class Message(models.Model):
    """A question or an answer. An answer's row is made with its question's, before anything can fail.

    A question's `flags` are signs of an attempt to instruct the model, an answer's those in the passages that it cites.
    An answer's `rewritten` is the question as it was looked up, where that is not as it was asked, and `readings` what
    its words were read as (`chat.pipeline.retrieval.trace`); `choices` what the student was asked back
    (`chat.pipeline.understanding.clarify`), `related` the curated questions offered instead of an answer or below it.
    `retrieved` is the head of the ranking that it was made from (`chat.pipeline.retrieval.trace`), and `faq` the
    curated question that steered it, as close to the student's as `faq_similarity` (0 to 1). `language` is what the
    message is written in. Of the sentences that the language model wrote, `sentences_shown` stand there as written,
    for `sentences_quoted` the page's own words, and `sentences_left_out` not at all; None if it wrote none. `office`
    is the answer in staff's own words with which the text begins, as `chat.protocol.shapes.OfficeWords`.
    `contacts_used` are the kinds of contacts that the student went to from there, each once.
    """

    class Role(models.TextChoices):
        USER = "user", _("student")
        ASSISTANT = "assistant", _("assistant")

    class Status(models.TextChoices):
        GENERATING = "generating", _("being written")
        COMPLETE = "complete", _("complete")
        ABSTAINED = "abstained", _("no answer given")
        CLARIFYING = "clarifying", _("asked back")
        STOPPED = "stopped", _("stopped by the student")
        FAILED = "failed", _("failed")

    class Strategy(models.TextChoices):
        NONE = "", "–"
        GENERATED = "generated", _("written by the model")
        EXTRACTIVE = "extractive", _("quoted from pages")
        FIXED = "fixed", _("a fixed reply")
        WRITTEN = "written", _("answered by staff")

    class Route(models.TextChoices):
        QUESTION = "question", _("question")
        CHIT_CHAT = "chit-chat", _("small talk")
        META = "meta", _("about the assistant")
        CRISIS = "crisis", _("cry for help: crisis")
        EMERGENCY = "emergency", _("cry for help: emergency")
        ASSAULT = "assault", _("cry for help: assault")
        ABUSE = "abuse", _("abuse")

    class Contact(models.TextChoices):
        EMAIL = "email", _("e-mail address")
        PHONE = "phone", _("telephone number")
        PAGE = "page", _("page of the contact")

    #: A cry for help. A question of that kind has the route too, so that both rows are found without a join.
    HELP_ROUTES = (Route.CRISIS, Route.EMERGENCY, Route.ASSAULT)

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    role = models.CharField(_("role"), max_length=12, choices=Role)
    question = models.OneToOneField(
        "self", on_delete=models.CASCADE, null=True, editable=False, related_name="answer", verbose_name=_("question")
    )
    client_id = models.UUIDField(null=True, editable=False)
    text = models.TextField(_("text"), blank=True)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.COMPLETE)
    strategy = models.CharField(_("strategy"), max_length=12, choices=Strategy, blank=True, default=Strategy.NONE)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    notice = models.CharField(max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    profile = models.CharField(_("retrieval profile"), max_length=50, blank=True)
    prompt = models.CharField(_("prompt"), max_length=80, blank=True)
    route = models.CharField(_("kind"), max_length=12, choices=Route, blank=True)
    rewritten = models.TextField(_("looked up as"), blank=True)
    readings = models.JSONField(default=list, db_default=Value([], output_field=models.JSONField()), blank=True)
    flags = ArrayField(models.CharField(max_length=30), default=list, blank=True, verbose_name=_("signs of an attack"))
    choices = models.JSONField(null=True, blank=True)
    related = models.JSONField(default=list, blank=True)
    office = models.JSONField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(_("tokens read"), null=True)
    answer_tokens = models.PositiveIntegerField(_("tokens written"), null=True)
    sentences_shown = models.PositiveSmallIntegerField(null=True)
    sentences_quoted = models.PositiveSmallIntegerField(null=True)
    sentences_left_out = models.PositiveSmallIntegerField(null=True)
    evidence = models.FloatField(_("evidence"), null=True)
    retrieved = models.JSONField(default=list, blank=True)
    faq = models.ForeignKey(FAQ, on_delete=models.SET_NULL, null=True, related_name="answers", verbose_name=_("FAQ"))
    faq_similarity = models.FloatField(null=True)
    language = models.CharField(_("language"), max_length=2, blank=True)
    timings_ms = models.JSONField(_("timings in ms"), default=dict)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    is_replaced = models.BooleanField(_("replaced by the student"), default=False, db_default=False, editable=False)
    contacts_used = ArrayField(
        models.CharField(max_length=5, choices=Contact), default=list, db_default=[], blank=True, editable=False
    )

    objects = MessageQuerySet.as_manager()

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["pk"]
        permissions = [("read_help_message", _("Can read cries for help"))]
        indexes = [models.Index(fields=["finished_at", "id"]), models.Index(fields=["created_at"])]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "client_id"], name="one_question_a_client_id"),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(status="generating"),
                name="one_answer_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return str(_("Message of a person in need")) if self.is_help else self.text[:80]

    @property
    def is_help(self) -> bool:
        """Return whether the message is a cry for help, or the reply to one."""
        return self.route in self.HELP_ROUTES

    def text_for(self, user: Staff) -> str:
        """Return the text, or that it is hidden, as this member of staff may read it."""
        if self.is_help and not may_read_help(user):
            return gettext("Hidden: the message of a person who may be in need.")
        return self.text


class Citation(models.Model):
    """A source as it was when it was cited; the passage itself may change or go."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="citations")
    n = models.PositiveSmallIntegerField()
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="citations")
    passage = models.ForeignKey(Passage, on_delete=models.SET_NULL, null=True, related_name="citations")
    title = models.TextField(_("title"))
    url = models.TextField(_("address"))
    heading = models.TextField(_("heading"), blank=True)
    page = models.PositiveIntegerField(_("page"), null=True)
    quote = models.TextField(_("quote"), blank=True)
    links = models.JSONField(default=list, blank=True)  # [{"label", "url"}], where the student asked for links
    language = models.CharField(_("language"), max_length=8, blank=True)  # the quote's
    checked_on = models.CharField(
        max_length=10, blank=True, editable=False
    )  # the day of the page, as the widget gets it
    edition = models.CharField(
        max_length=60, blank=True, default="", db_default="", editable=False
    )  # its term, in the answer's language
    read_by_ocr = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        verbose_name = _("citation")
        verbose_name_plural = _("citations")
        ordering = ["message", "n"]
        constraints = [models.UniqueConstraint(fields=["message", "n"], name="one_citation_a_number")]

    def __str__(self) -> str:
        return f"[{self.n}] {self.title}"


class AnswerRecord(models.Model):
    """What an answer was made from, in the words of its moment, as `chat.pipeline.moment` describes it.

    It goes with its message, and before that where it is older than ANSWER_RECORD_DAYS.
    """

    message = models.OneToOneField(Message, on_delete=models.CASCADE, primary_key=True, related_name="record")
    moment = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.message_id}: {self.made_at:%Y-%m-%d %H:%M}"


class Feedback(models.Model):
    """Thumbs up (1) or down (-1) on an answer, and why."""

    class Reason(models.TextChoices):
        WRONG = "wrong", _("wrong")
        OUTDATED = "outdated", _("outdated")
        INCOMPLETE = "incomplete", _("incomplete")
        NOT_MY_QUESTION = "not_my_question", _("not what was asked")
        OTHER = "other", _("other")

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="feedback")
    value = models.SmallIntegerField(_("thumbs"), validators=[MinValueValidator(-1), MaxValueValidator(1)])
    reasons = ArrayField(
        models.CharField(max_length=20, choices=Reason), default=list, blank=True, verbose_name=_("reasons")
    )
    comment = models.TextField(_("comment"), blank=True, max_length=1000)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    class Meta:
        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        indexes = [models.Index(fields=["updated_at", "message"])]
        constraints = [models.CheckConstraint(condition=models.Q(value__in=(-1, 1)), name="thumbs_up_or_down")]

    def __str__(self) -> str:
        return "👍" if self.value > 0 else "👎"
