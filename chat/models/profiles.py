"""Retrieval profiles of assistants: the retrievers that run, and how their rankings become one."""

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.retrieval.fusion import Fusion
from knowledge.retrieval.registry import retriever_choices

#: The built-in profile that an assistant has if staff choose none.
RECOMMENDED = "default"


class RetrievalProfileQuerySet(models.QuerySet["RetrievalProfile"]):
    """Profiles as staff choose among them."""

    def for_choice(self) -> Self:
        """Order them with the recommended one first, then staff's own, and those of papers last."""
        is_other = models.Case(models.When(name=RECOMMENDED, then=0), default=1)
        return self.order_by(is_other, "is_built_in", "name")


class RetrievalProfile(models.Model):
    """A set-up of retrieval by name; the built-in ones are the code's own (`chat.pipeline.retrieval.profiles`) and only
    shown here."""

    name = models.CharField(
        _("name"),
        max_length=50,
        unique=True,
        validators=[RegexValidator(r"^[a-z0-9][a-z0-9+._-]*$", _("Small letters, digits, and + . _ - only."))],
    )
    description = models.TextField(_("description"), blank=True)
    is_built_in = models.BooleanField(_("built in"), default=False, editable=False)
    fusion = models.CharField(
        _("merging"),
        max_length=8,
        choices=[
            (Fusion.RRF.value, _("by rank (weighted reciprocal rank fusion, c = 60)")),
            (Fusion.SCORES.value, _("by score (weighted sum, each retriever’s best is 1)")),
        ],
        default=Fusion.SCORES.value,
    )
    rerank_first = models.PositiveSmallIntegerField(
        _("rerank the first"),
        default=0,
        validators=[MaxValueValidator(200)],
        help_text=_("How many passages the server’s reranking model puts in order (RERANKER_MODEL); 0: none."),
    )
    protect_faqs = models.BooleanField(
        _("keep curated documents first"),
        default=True,
        help_text=_("Documents that a curated FAQ put first are not reranked."),
    )
    sources = models.PositiveSmallIntegerField(
        _("sources for the answer"), default=6, validators=[MinValueValidator(1), MaxValueValidator(30)]
    )
    threshold = models.FloatField(
        _("evidence needed"),
        default=0.4,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_("Below it the assistant says that it does not know; 0: it always tries."),
    )

    objects = RetrievalProfileQuerySet.as_manager()

    class Meta:
        verbose_name = _("retrieval profile")
        verbose_name_plural = _("retrieval profiles")
        ordering = ["-is_built_in", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def choice_label(self) -> str:
        """Return how it is offered for a choice: what it does, then its name."""
        if self.is_built_in and self.name == RECOMMENDED:
            return gettext("Recommended")
        description = gettext(self.description) if self.is_built_in and self.description else self.description
        return f"{description.rstrip('.')} ({self.name})" if description else self.name


class ProfileLeg(models.Model):
    """One retriever's part in a profile."""

    class Retriever(models.TextChoices):
        """The built-in ones; `knowledge.retrieval.registry` has them all."""

        LEXICAL = "lexical", _("same words (BM25)")
        DENSE = "dense", _("same meaning (vectors)")
        SENTENCES = "dense-sentence", _("same meaning, by sentences")
        PROPOSITIONS = "dense-proposition", _("same meaning, by propositions")
        FAQ = "faq", _("curated FAQs, as sure as they are close; learned where that is better")
        NEAREST_FAQ = "faq-nearest", _("curated FAQs by their nearest phrasing, as sure as they are close")
        HARD_FAQ = "faq-hard", _("the closest curated FAQ, always (Marcel’s)")
        OKAPI = "okapi", _("same words, as published systems look them up (slow, for comparisons)")
        OKAPI_PAGES = "okapi-pages", _("the same over whole pages (Marcel’s)")
        HYDE = "hyde", _("same meaning as a guessed answer (HyDE, needs a language model)")

    profile = models.ForeignKey(RetrievalProfile, on_delete=models.CASCADE, related_name="legs")
    retriever = models.CharField(_("retriever"), max_length=20, choices=retriever_choices)
    weight = models.FloatField(_("weight"), default=1.0, validators=[MinValueValidator(0), MaxValueValidator(100)])
    k = models.PositiveSmallIntegerField(
        _("passages"), default=50, validators=[MinValueValidator(1), MaxValueValidator(400)]
    )

    class Meta:
        verbose_name = _("retriever")
        verbose_name_plural = _("retrievers")
        ordering = ["pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["profile", "retriever"],
                name="one_leg_a_profile_and_retriever",
                violation_error_message=_("This retriever is there already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.retriever} × {self.weight:g}"
