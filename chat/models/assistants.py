"""The bot as students meet it."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.profiles import RetrievalProfile
from chat.models.prompts import PromptVersion, layout_for
from chat.prompt_template import Layout, Template, lay_out
from core.access import Row, StaffScoped
from knowledge.models import Collection


class Strictness(models.TextChoices):
    """Names how much doubt the check of sentences accepts before it quotes the page."""

    STRICT = "strict", _("Strict: quote the page at the least doubt")
    BALANCED = "balanced", _("Balanced")
    LENIENT = "lenient", _("Lenient: let most sentences stand")


class OfAssistants(StaffScoped[Row]):
    """Sites, conversations and gaps: their assistant's teams look after them."""

    owner = "assistant"
    owner_model = "chat.Assistant"


class Language(models.TextChoices):
    """A language that an assistant can answer in."""

    ENGLISH = "en", _("English")
    GERMAN = "de", _("German")


def at_most_servers_days(days: int) -> None:
    """Sessions are renewed no longer than the server keeps conversations."""
    if days > settings.RETENTION_DAYS:
        raise ValidationError(
            _("This server keeps conversations for %(days)d days at most."), params={"days": settings.RETENTION_DAYS}
        )


def every_language() -> list[str]:
    return list(Language.values)


class AssistantQuerySet(StaffScoped["Assistant"]):
    owner = "pk"
    owner_model = "chat.Assistant"


class Assistant(models.Model):
    """The bot as students meet it."""

    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=100)
    institution = models.CharField(_("institution"), max_length=200)
    languages = ArrayField(
        models.CharField(max_length=2, choices=Language),
        verbose_name=_("languages"),
        default=every_language,
        help_text=_("It answers in the student’s language where it is ticked, else in the first that is."),
    )
    persona = models.TextField(
        _("how it speaks"),
        blank=True,
        max_length=1000,
        help_text=_("Its tone, in a sentence or two that it is told. Empty: friendly, clear and brief."),
    )
    prompt = models.ForeignKey(
        PromptVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="assistants",
        verbose_name=_("version of the instructions"),
        help_text=_("What the language model is told; empty: the built-in texts."),
    )
    uses_model = models.BooleanField(
        _("have a language model write"),
        default=True,
        help_text=_("Off: nothing is sent to a model for this assistant, and it quotes its pages."),
    )
    model = models.CharField(
        _("model"),
        max_length=200,
        blank=True,
        help_text=_("Its name as the server’s model endpoint knows it. Empty: the server’s own, in grey."),
    )
    temperature = models.FloatField(
        _("how freely it words"),
        default=0.1,
        validators=[MinValueValidator(0), MaxValueValidator(2)],
        help_text=_("The model’s temperature, from 0 to 2. Facts need a low one: 0 to 0.3."),
    )
    max_tokens = models.PositiveIntegerField(
        _("longest answer"),
        null=True,
        blank=True,
        validators=[MinValueValidator(16), MaxValueValidator(8192)],
        help_text=_("In tokens; four are about three words. Empty: the server’s own, in grey."),
    )
    strictness = models.CharField(
        _("check of sentences"),
        max_length=10,
        choices=Strictness,
        default=Strictness.STRICT,
        help_text=_(
            "Each sentence of the language model is compared with the page that it cites. If there is doubt, the "
            "page’s own words are shown instead. Less strict: fewer quotes, more wrong sentences."
        ),
    )
    welcome = models.TextField(_("welcome"), blank=True, help_text=_("Shown before the first question."))
    welcome_de = models.TextField(_("welcome in German"), blank=True)
    suggestions = models.TextField(_("suggestions"), blank=True, help_text=_("Example questions, one a line."))
    suggestions_de = models.TextField(_("suggestions in German"), blank=True)
    abstention = models.TextField(
        _("when it does not know"),
        blank=True,
        max_length=1000,
        help_text=_("What it says instead of guessing; empty: a built-in sentence."),
    )
    abstention_de = models.TextField(_("when it does not know, in German"), blank=True, max_length=1000)
    collections = models.ManyToManyField(
        Collection,
        blank=True,
        verbose_name=_("collections"),
        help_text=_("What it answers from; none: every collection that is used in answers."),
    )
    profile = models.ForeignKey(
        RetrievalProfile,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="assistants",
        verbose_name=_("retrieval profile"),
        help_text=_("How it looks for answers; empty: the recommended way."),
    )
    evidence_needed = models.FloatField(
        _("evidence needed"),
        null=True,
        blank=True,
        default=None,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_("From 0 to 1; below it the assistant says that it does not know. Empty: as its profile says."),
    )
    recognises_kinds = models.BooleanField(
        _("recognise greetings, thanks, complaints and the like"),
        default=True,
        db_default=True,
        help_text=_("Off: they are looked up like questions. Cries for help are recognised all the same."),
    )
    contact_name = models.CharField(
        _("contact"),
        max_length=200,
        blank=True,
        help_text=_("Who helps where the bot cannot: an office."),
    )
    contact_email = models.EmailField(_("contact's e-mail"), blank=True)
    contact_url = models.URLField(_("contact's page"), blank=True)
    keep_conversations_days = models.PositiveSmallIntegerField(
        _("keep conversations"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), at_most_servers_days],
        help_text=_("Days after the last message; then they are deleted. Empty: the server’s own, in grey."),
    )
    keep_questions_days = models.PositiveSmallIntegerField(
        _("keep anonymised questions"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text=_("Days from when they were asked, without names, addresses and numbers. Empty: none are kept."),
    )
    keep_counts_months = models.PositiveSmallIntegerField(
        _("keep figures"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(600)],
        help_text=_("Months that the dashboard looks back. Figures tell of nobody. Empty: for ever."),
    )
    teams = models.ManyToManyField(
        Group,
        blank=True,
        related_name="assistants",
        verbose_name=_("teams"),
        help_text=_("The teams that look after this, such as a faculty’s (empty: staff with full access)."),
    )

    objects = AssistantQuerySet.as_manager()

    class Meta:
        verbose_name = _("assistant")
        verbose_name_plural = _("assistants")
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(languages__len__gte=1),
                name="assistant_speaks_a_language",
                violation_error_message=_("Tick at least one language."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def template(self) -> Template:
        """Return what the model is told when it answers for this assistant."""
        return self.prompt.template if self.prompt else self.built_in_template

    @property
    def built_in_template(self) -> Template:
        """The built-in texts, laid out as its model did best with."""
        return lay_out(layout_for(self.model_name) if self.model_name else Layout())

    @property
    def model_name(self) -> str:
        """The name of the model that answers for this assistant; empty if the server has none."""
        return self.model or settings.LLM_MODEL

    def language_for(self, wanted: str) -> str:
        """Return the language to answer in: the student's if the assistant speaks it, else its first."""
        return wanted if wanted in self.languages else self.languages[0]

    def abstention_in(self, language: str) -> str:
        """Its own words for not knowing; empty where it has none in this language."""
        return self.abstention_de if language == Language.GERMAN else self.abstention


def default_assistant() -> Assistant | None:
    return Assistant.objects.order_by("pk").first()
