"""Earlier versions of FAQs."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from faqs.models.faqs import FAQ


class FAQVersion(models.Model):
    """An FAQ with its phrasings and sources as it was from `made_at` on; written by `faqs.versions.history`.

    `content` is what `faqs.versions.snapshots.read_content` gives, `fingerprint` tells whether two say the same.
    """

    class Reason(models.TextChoices):
        FORM = "form", _("saved in the form")
        STATUS = "status", _("status changed in the list")
        IMPORT = "import", _("imported from a file")
        RESTORE = "restore", _("an earlier version restored")
        MERGE = "merge", _("merged with a duplicate")
        GAP = "gap", _("made from an unanswered topic")
        CASE = "case", _("made from a case")
        API = "api", _("over the staff API")
        TEST = "test", _("published after a shadow test")
        CHECK = "check", _("found still right")
        FOUND = "found", _("as it was found")

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="versions", verbose_name=_("FAQ"))
    made_at = models.DateTimeField(_("made"))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("by"),
    )
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    content = models.JSONField()
    fingerprint = models.CharField(max_length=32)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["faq", "-id"], name="version_by_faq"),
            models.Index(fields=["made_at"], name="version_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.faq_id}: {self.made_at:%Y-%m-%d %H:%M}"
