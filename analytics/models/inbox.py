"""Comments, readers, notices and preferences of the inbox."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from analytics.models.gaps import Gap
from analytics.models.reviews import Review
from chat.models import Case
from faqs.models import FAQ

#: A row is about a topic, about an answer or about a case, never about two of them.
ABOUT_ONE = (
    Q(gap=None, review__isnull=False, case=None)
    | Q(gap__isnull=False, review=None, case=None)
    | Q(gap=None, review=None, case__isnull=False)
)


class AboutItem(models.Model):
    """A row about one topic (`gap`), one answer (`review`) or one `case` of the inbox, deleted with it."""

    gap = models.ForeignKey(Gap, on_delete=models.CASCADE, null=True, related_name="%(class)ss")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, null=True, related_name="%(class)ss")
    case = models.ForeignKey(Case, on_delete=models.CASCADE, null=True, related_name="%(class)ss")

    class Meta:
        abstract = True


class Comment(AboutItem):
    """A colleague's comment, or (`note`) what happened to the item by itself, with `text` naming what did it."""

    class Note(models.TextChoices):
        RATED_AGAIN = "rated_again", _("The student rated it again: to do once more.")
        TAKEN_BACK = "taken_back", _("The student took the bad rating back.")
        ANSWERED = "answered", _("Asked again, it is answered now: watch whether students ask on.")
        ASKED_AGAIN = "asked_again", _("Asked again, it is no longer answered: to do once more.")
        TOPIC_CLOSED = "topic_closed", _("Its topic was closed.")

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    note = models.CharField(max_length=12, choices=Note, blank=True)
    text = models.TextField(_("comment"), blank=True, max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=ABOUT_ONE, name="a_comment_is_about_one_item")]

    def __str__(self) -> str:
        return f"#{self.pk}"


class Reader(AboutItem):
    """A member of staff who has an item or the form of an FAQ open, and when their page last said so."""

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, null=True, related_name="readers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=(ABOUT_ONE & Q(faq=None)) | Q(gap=None, review=None, case=None, faq__isnull=False),
                name="a_reader_reads_one_item",
            ),
            models.UniqueConstraint(fields=["review", "user"], name="one_reader_a_review_and_user"),
            models.UniqueConstraint(fields=["gap", "user"], name="one_reader_a_gap_and_user"),
            models.UniqueConstraint(fields=["case", "user"], name="one_reader_a_case_and_user"),
            models.UniqueConstraint(fields=["faq", "user"], name="one_reader_an_faq_and_user"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}"


class Notice(AboutItem):
    """Tells a member of staff that a colleague (`by`) assigned an item to them, or to whom they stand in for, or
    commented on an item that they look after or commented on too; or, by nobody, that a case came, goes on or waits
    too long.
    """

    class Kind(models.TextChoices):
        ASSIGNED = "assigned", _("assigned")
        COMMENT = "comment", _("comment")
        NEW_CASE = "new_case", _("new case")
        CASE_MESSAGE = "case_message", _("message in a case")
        LATE_CASE = "late_case", _("late case")

    kind = models.CharField(max_length=12, choices=Kind, default=Kind.ASSIGNED)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    # Whom it was assigned to, where that is not the reader.
    instead_of = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["user", "read_at", "-id"])]
        constraints = [models.CheckConstraint(condition=ABOUT_ONE, name="a_notice_is_about_one_item")]

    def __str__(self) -> str:
        return f"#{self.pk}"


class InboxPreferences(models.Model):
    """Notices and mails that a member of staff wants, and their substitute until `away_until`, that day included."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="inbox_preferences")
    shows_notices = models.BooleanField(
        _("Show my notices on the home page, and their number on every page"), default=True, db_default=True
    )
    mails_assignments = models.BooleanField(_("E-mail me what is assigned to me"), default=True)
    mails_cases = models.BooleanField(_("E-mail me new cases and those that wait too long"), default=True)
    mails_comments = models.BooleanField(_("E-mail me comments on what I look after or commented on"), default=True)
    mails_quality = models.BooleanField(
        _("E-mail me when clearly fewer answers are right"), default=True, db_default=True
    )
    mails_digest = models.BooleanField(_("E-mail me a summary every week"), default=True)
    away_until = models.DateField(_("Away until"), null=True, blank=True)
    substitute = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="stands_in_for",
        verbose_name=_("Substitute"),
    )
    digest_sent_on = models.DateField(null=True, editable=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}"
