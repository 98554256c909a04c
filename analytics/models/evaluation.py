"""Questions with known answers, and how retrieval profiles did on them."""

from typing import Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant
from core.access import Row, Staff, StaffScoped, sees_everything
from core.jobs import JobQuerySet, JobState, RequestedJob
from knowledge.models import Collection, Document

LOST = gettext_noop("Its worker ended before the run did, perhaps because the server was restarted. Run it again.")


#: The name of a set that is made for an assistant's regression questions. It is kept in English, and each reads it in
#: their own language.
REGRESSION_SET = gettext_noop("Regression questions: %(assistant)s")


class EvaluationSetQuerySet(StaffScoped["EvaluationSet"]):
    """A regression set belongs to its assistant, whose students asked its questions; any other to the collections that
    it searches, of which one's own is enough."""

    def visible_to(self, user: "Staff") -> Self:
        if sees_everything(user):
            return self
        assistants = apps.get_model("chat.Assistant").objects.visible_to(user)
        collections = apps.get_model("knowledge.Collection").objects.visible_to(user)
        searching = self.model.collections.through.objects.filter(collection__in=collections.values("pk"))
        on_own = Q(assistant__isnull=True, pk__in=searching.values("evaluationset"))
        return self.filter(Q(assistant__in=assistants.values("pk")) | on_own)


class EvaluationSet(models.Model):
    """Questions on some collections, each with the documents that answer it."""

    name = models.CharField(_("name"), max_length=200)
    fingerprint = models.CharField(max_length=32, blank=True, editable=False)  # of the files it was loaded from
    collections = models.ManyToManyField(Collection, verbose_name=_("collections"))
    assistant = models.ForeignKey(
        Assistant,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="regression_sets",
        verbose_name=_("test questions always tried for"),
        help_text=_("Every change is tested on its questions before it goes live for this assistant."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = EvaluationSetQuerySet.as_manager()

    class Meta:
        verbose_name = _("set of test questions")
        verbose_name_plural = _("sets of test questions")
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["fingerprint"], condition=~models.Q(fingerprint=""), name="one_evaluation_set_a_content"
            )
        ]

    def __str__(self) -> str:
        made, _rest = REGRESSION_SET.split("%(")
        if not self.name.startswith(made):
            return self.name
        return gettext(REGRESSION_SET) % {"assistant": self.name.removeprefix(made)}


class OfEvaluationSets(StaffScoped[Row]):
    """Questions and runs: who works on their set works on them."""

    def visible_to(self, user: "Staff") -> Self:
        if sees_everything(user):
            return self
        own = apps.get_model("analytics.EvaluationSet").objects.visible_to(user)
        return self.filter(evaluation_set__in=own.values("pk"))


class EvaluationQuestion(models.Model):
    """`answerable` is None where nobody said; `history` is a list of [role, text], oldest first."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", _("proposed")
        ACCEPTED = "accepted", _("accepted")
        REJECTED = "rejected", _("rejected")

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="questions", verbose_name=_("set of test questions")
    )
    external_id = models.CharField(max_length=200)
    text = models.TextField(_("question"))
    history = models.JSONField(default=list, blank=True)
    answerable = models.BooleanField(_("answerable"), null=True)
    reference = models.TextField(_("reference answer"), blank=True)
    labels = models.JSONField(default=dict, blank=True)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.ACCEPTED)

    objects = OfEvaluationSets.as_manager()

    class Meta:
        verbose_name = _("test question")
        verbose_name_plural = _("test questions")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation_set", "external_id"], name="one_question_an_id_and_set")
        ]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives a question that was a student's."""
        return f"#{self.pk}"


class Judgment(models.Model):
    """A document that answers a question, and how well.

    Where it is known at finer grain, `passages` are the input hashes of the passages that do and `quote` their text;
    `units` are the sentences and propositions of them that do, as {"passage", "granularity", "text"}, and None where
    nobody was asked.
    """

    question = models.ForeignKey(EvaluationQuestion, on_delete=models.CASCADE, related_name="judgments")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+", verbose_name=_("document"))
    grade = models.PositiveSmallIntegerField(_("grade"), default=1)
    quote = models.TextField(_("passage"), blank=True)
    passages = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    units = models.JSONField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["question", "document"], name="one_judgment_a_question_and_document")
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.document_id}"


class ModelRequest(models.Model):
    """A request to a language model for a set, kept so that nothing is paid for twice.

    `key` is the input hash of a passage that questions were made of, or a hash of a question whose units were looked
    for. A call's tokens stand with the first of its keys.
    """

    class Purpose(models.TextChoices):
        QUESTIONS = "questions"
        UNITS = "units"

    evaluation_set = models.ForeignKey(EvaluationSet, on_delete=models.CASCADE, related_name="model_requests")
    purpose = models.CharField(max_length=12, choices=Purpose)
    key = models.CharField(max_length=32)
    failure = models.CharField(max_length=32, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    answer_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["evaluation_set", "purpose", "key"], name="one_request_a_set_and_key")
        ]

    def __str__(self) -> str:
        return f"{self.evaluation_set_id}: {self.purpose} {self.key}"


class EvaluationRunQuerySet(OfEvaluationSets["EvaluationRun"], JobQuerySet["EvaluationRun"]):  # type: ignore[override]
    """Runs by owner and by state."""


class EvaluationRun(RequestedJob):
    """One profile on one set. `results` is what `analytics.evaluation.runner` sums up.

    `rewrites` says whether follow-ups are made to stand alone before they are looked up, as they are for students;
    `answering` says how the questions are answered too (`analytics.evaluation.answers.options`); None: they are not.
    """

    TASK = "analytics.tasks.run_evaluation"
    State = JobState

    evaluation_set = models.ForeignKey(
        EvaluationSet, on_delete=models.CASCADE, related_name="runs", verbose_name=_("set of test questions")
    )
    profile = models.CharField(_("retrieval profile"), max_length=100)
    rewrites = models.BooleanField(_("rewrites follow-ups"), default=True, editable=False)
    answering = models.JSONField(null=True, editable=False)
    results = models.JSONField(default=dict)

    objects = EvaluationRunQuerySet.as_manager()

    class Meta:
        verbose_name = _("test result")
        verbose_name_plural = _("test results")
        ordering = ["-pk"]
        default_permissions = ("add", "view", "delete")
        indexes = [models.Index(fields=["evaluation_set", "profile", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.evaluation_set}: {self.profile}"

    def recover(self) -> None:
        """Mark the run as failed: a run without answers begins anew, and staff decide whether it does."""
        self.fail(LOST)


class QuestionResult(models.Model):
    """Result of one question: `ranking` are the ids of the first documents, `measures` empty where nothing is judged.

    `answer` holds its replies with their measures (`analytics.evaluation.answers.runner`); None where it was not asked.
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="question_results")
    question = models.ForeignKey(EvaluationQuestion, on_delete=models.CASCADE, related_name="+")
    ranking = models.JSONField(default=list)
    measures = models.JSONField(default=dict)
    evidence = models.FloatField(null=True)
    seconds = models.FloatField()
    answer = models.JSONField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["run", "question"], name="one_result_a_run_and_question")]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.question_id}"
