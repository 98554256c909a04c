"""Offices with their hours and the rules that lead a question to them."""

from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, Language, OfAssistants
from faqs.models import Category


class Weekday(models.IntegerChoices):
    """Days as `date.weekday()` counts them."""

    MONDAY = 0, _("Monday")
    TUESDAY = 1, _("Tuesday")
    WEDNESDAY = 2, _("Wednesday")
    THURSDAY = 3, _("Thursday")
    FRIDAY = 4, _("Friday")
    SATURDAY = 5, _("Saturday")
    SUNDAY = 6, _("Sunday")


class Office(models.Model):
    """An office of the university that answers students' questions itself.

    It replies within `reply_days` of the days on which it has hours; `closed_on` are days without any.
    """

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="offices", verbose_name=_("assistant")
    )
    name = models.CharField(_("name"), max_length=100)
    name_de = models.CharField(_("name in German"), max_length=100, blank=True)
    teams = models.ManyToManyField(
        Group,
        blank=True,
        related_name="offices",
        verbose_name=_("teams"),
        help_text=_("Who answers here. Empty: everybody who works on the assistant."),
    )
    reply_days = models.PositiveSmallIntegerField(
        _("replies within"),
        default=2,
        validators=[MinValueValidator(0), MaxValueValidator(30)],
        help_text=_(
            "Days on which the office has hours; 0 is the same day. Students are told, and later cases stand out."
        ),
    )
    closed_on = ArrayField(
        models.DateField(),
        verbose_name=_("closed on"),
        default=list,
        blank=True,
        help_text=_("Holidays and other days without hours."),
    )
    is_default = models.BooleanField(
        _("takes what no rule leads elsewhere"), default=False, help_text=_("One office of each assistant.")
    )
    is_active = models.BooleanField(_("takes new questions"), default=True)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("office")
        verbose_name_plural = _("offices")
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assistant"],
                condition=Q(is_default=True),
                name="one_default_office_an_assistant",
                violation_error_message=_("Another office takes what no rule leads elsewhere."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def name_in(self, language: str) -> str:
        """Return its name in this language, the English one if there is no other."""
        return (language == Language.GERMAN and self.name_de) or self.name


class OfficeHours(models.Model):
    """A time of the week at which an office is there, in the server's time zone."""

    office = models.ForeignKey(Office, on_delete=models.CASCADE, related_name="hours")
    weekday = models.PositiveSmallIntegerField(_("day"), choices=Weekday)
    opens = models.TimeField(_("from"))
    closes = models.TimeField(_("until"))

    class Meta:
        verbose_name = _("office hours")
        verbose_name_plural = _("office hours")
        ordering = ["weekday", "opens"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(opens__lt=F("closes")),
                name="an_office_opens_before_it_closes",
                violation_error_message=_("The end must be later than the beginning."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_weekday_display()} {self.opens:%H:%M}–{self.closes:%H:%M}"


class OfficeRule(models.Model):
    """Leads a question to its office if all that the rule names is true of it; the first rule by `position` counts."""

    office = models.ForeignKey(Office, on_delete=models.CASCADE, related_name="rules")
    category = models.ForeignKey(
        Category,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("topic"),
        help_text=_("The category of the FAQ that is closest to the question."),
    )
    audience = models.CharField(
        _("programme or group"),
        max_length=100,
        blank=True,
        help_text=_("As documents are tagged, such as programme:computer-science, if the student has said so."),
    )
    page = models.CharField(
        _("page"),
        max_length=500,
        blank=True,
        help_text=_("How the address of the page begins that was found first for the question."),
    )
    position = models.PositiveSmallIntegerField(_("order"), default=0)

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("what comes here")
        ordering = ["position", "pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return ", ".join(filter(None, [str(self.category or ""), self.audience, self.page]))

    def clean(self) -> None:
        if not (self.category_id or self.audience.strip() or self.page.strip()):
            raise ValidationError(_("Name a topic, a programme or group, or a page."))
