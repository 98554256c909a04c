"""Versions of the texts that the language model is told."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.prompt_template import Layout, Template


class PromptVersion(models.Model):
    """Texts with placeholders (`chat.prompt_template`). A row never changes: what is edited becomes the next one."""

    number = models.AutoField(_("number"), primary_key=True)
    comment = models.CharField(_("what changed"), max_length=200, help_text=_("For your colleagues: what, and why."))
    system = models.TextField(
        _("instructions"), help_text=_("Who the assistant is and the rules it keeps; sent before everything else.")
    )
    question = models.TextField(
        _("question"), help_text=_("Sent with every question: the sources, the question, and what to do with them.")
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("made by"),
    )
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    class Meta:
        verbose_name = _("version of the instructions")
        verbose_name_plural = _("instructions to the language model")
        ordering = ["-number"]
        default_permissions = ("add", "delete", "view")

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Return what every answer made with it records."""
        return f"v{self.number}"

    @property
    def template(self) -> Template:
        return Template(self.name, self.system, self.question)


class ModelLayout(models.Model):
    """The layout of the built-in texts that a language model did best with, when it was tried."""

    model = models.CharField(max_length=200, unique=True)
    may_refuse = models.BooleanField()
    is_question_first = models.BooleanField()
    most_sources = models.PositiveSmallIntegerField()
    chosen_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.model

    @property
    def layout(self) -> Layout:
        return Layout(self.may_refuse, self.is_question_first, self.most_sources)


def layout_for(model: str) -> Layout:
    """Return the layout that was chosen for a model; the default for one that nobody has tried."""
    row = ModelLayout.objects.filter(model=model).first()
    return row.layout if row else Layout()
