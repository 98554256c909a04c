"""Cases: questions that students left with an office or wait to be told about, and what was said about them."""

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, Language, OfAssistants
from chat.models.conversations import Conversation, Message
from chat.models.offices import Office
from core.access import sees_everything
from faqs.models import FAQ

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class CaseQuerySet(OfAssistants["Case"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Filter the cases of assistants and offices that a member of staff works on.

        A person in need is for those who may read cries for help. A wish to be told is no case of staff's.
        """
        rows = super().visible_to(user).exclude(state__in=Case.WISHES)
        if not user.has_perm("chat.read_help_message"):
            rows = rows.exclude(reason=Case.Reason.HELP)
        if sees_everything(user):
            return rows
        offices = Office.objects.filter(Q(teams=None) | Q(teams__in=user.groups.all()))
        return rows.filter(Q(office=None) | Q(office__in=offices.values("pk")))

    def waiting(self) -> Self:
        """Filter the cases in which the student waits for the office."""
        return self.filter(state=Case.State.OPEN)

    def watching(self) -> Self:
        """Filter the wishes of students who wait to be told of an answer."""
        return self.filter(state=Case.State.WATCHING)


class Case(models.Model):
    """A question that a student left with an office, deleted with its conversation.

    Or the wish to be told once it has an answer: no office has it until the student writes there. `about` is the answer
    that did not help, if there was one, and `shared` are the messages that staff may read. `reply_due` is when the
    student was told to expect a reply, `raised_at` when staff were told that it is late.
    `version` counts what was done to it: who acts with an older one is told first.
    """

    class Reason(models.TextChoices):
        ABSTAINED = "abstained", _("No answer given")
        BAD_ANSWER = "bad_answer", _("The answer did not help")
        PERSON = "person", _("Wanted to ask a person")
        HELP = "help", _("A person in need")

    class State(models.TextChoices):
        OPEN = "open", _("waits for the office")
        REPLIED = "replied", _("waits for the student")
        CLOSED = "closed", _("closed")
        WATCHING = "watching", _("waits for an answer")
        TOLD = "told", _("was told of an answer")

    #: States of a wish to be told.
    WISHES = (State.WATCHING, State.TOLD)

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="cases")
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="cases", verbose_name=_("assistant")
    )
    office = models.ForeignKey(
        Office, on_delete=models.SET_NULL, null=True, related_name="cases", verbose_name=_("office")
    )
    about = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, related_name="cases")
    shared = models.ManyToManyField(Message, related_name="+")
    question = models.TextField(_("question"), max_length=4000)
    language = models.CharField(_("language"), max_length=2, choices=Language)
    reason = models.CharField(_("reason"), max_length=10, choices=Reason)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="merged")
    # What staff made of it, for the next student.
    faq = models.ForeignKey(FAQ, on_delete=models.SET_NULL, null=True, related_name="cases", verbose_name=_("FAQ"))
    # Chosen by the visitor's browser, so that a button that is pressed twice opens one case.
    client_id = models.UUIDField(editable=False)
    # What the student says in the end: whether it helped.
    helped = models.BooleanField(null=True)
    opened_at = models.DateTimeField(_("asked"), auto_now_add=True)
    # When the state last became what it is: since when somebody waits.
    state_at = models.DateTimeField(auto_now_add=True)
    reply_due = models.DateTimeField(_("reply expected by"), null=True)
    raised_at = models.DateTimeField(null=True)
    first_reply_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    # When a wish's question was last asked again, so that the one of longest ago comes next.
    asked_again_at = models.DateTimeField(null=True, editable=False)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="cases",
        verbose_name=_("assigned to"),
    )
    due_on = models.DateField(_("due"), null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(null=True, editable=False)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects = CaseQuerySet.as_manager()

    class Meta:
        verbose_name = _("case")
        verbose_name_plural = _("cases")
        ordering = ["state_at", "pk"]
        default_permissions = ("view", "change")
        constraints = [models.UniqueConstraint(fields=["conversation", "client_id"], name="one_case_a_client_id")]
        indexes = [
            models.Index(fields=["state", "raised_at", "state_at", "id"]),
            models.Index(fields=["state", "-state_at", "-id"]),
            models.Index(fields=["-id"], condition=Q(state="watching"), name="wishes_to_be_told"),
            GinIndex(OpClass(Upper("question"), name="gin_trgm_ops"), name="cases_by_words"),
            # All that counting a day reads of a case, so that it reads no questions.
            models.Index(
                fields=["opened_at"],
                include=[
                    *("id", "state", "reason", "helped", "first_reply_at", "closed_at", "language"),
                    *("assistant", "office", "conversation", "merged_into"),
                ],
                name="cases_counted",
            ),
            models.Index(
                fields=["reply_due"], condition=Q(state="open", raised_at=None), name="cases_that_may_be_late"
            ),
        ]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the case."""
        return f"#{self.pk}"

    @property
    def is_late(self) -> bool:
        """Return whether the student was told to expect a reply earlier, or is in need."""
        return self.state == self.State.OPEN and self.raised_at is not None

    @property
    def lateness(self) -> str:
        """Say why the case is late; empty if it is not."""
        if not self.is_late:
            return ""
        return gettext("urgent") if self.reason == self.Reason.HELP else gettext("waits too long")


class CaseMessage(models.Model):
    """What the student, the office or the assistant said in a case; `text` of the last two is Markdown.

    `author` is who wrote it for the office; the student reads the office's name. `mail_id` is the Message-ID of the
    mail that it came by, so that none is taken twice.
    """

    class By(models.TextChoices):
        STUDENT = "student", _("student")
        OFFICE = "office", _("office")
        ASSISTANT = "assistant", _("assistant")

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="messages")
    by = models.CharField(max_length=9, choices=By)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField(max_length=8000)
    # A question of the office's, after which the student is waited for.
    asks_back = models.BooleanField(default=False)
    mail_id = models.CharField(max_length=250, blank=True, editable=False)
    client_id = models.UUIDField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # A question that was merged into another one stands before what was said about it.
        ordering = ["created_at", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["case", "client_id"], name="one_case_message_a_client_id"),
            models.UniqueConstraint(fields=["mail_id"], condition=~Q(mail_id=""), name="one_message_a_mail"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"


class CaseAddressQuerySet(models.QuerySet["CaseAddress"]):
    def mailable(self) -> Self:
        """Filter the addresses that may be mailed: confirmed, and no mail to them came back."""
        return self.filter(confirmed_at__isnull=False, unreachable_at=None)


class CaseAddress(models.Model):
    """The e-mail address to which a student wants replies, kept apart from the case and deleted with it.

    Until the student has followed the link of the first mail (`confirmed_at`), no other mail is sent there, and none
    after one came back (`unreachable_at`). Another address is another row, so that no link of the earlier one holds.
    """

    case = models.OneToOneField(Case, on_delete=models.CASCADE, related_name="address")
    email = models.EmailField()
    asked_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True)
    unreachable_at = models.DateTimeField(null=True)

    objects = CaseAddressQuerySet.as_manager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"#{self.case_id}"


class CaseMailQuerySet(models.QuerySet["CaseMail"]):
    def waiting(self) -> Self:
        """Filter the mails that are still to be sent."""
        return self.filter(state=CaseMail.State.WAITING)

    def due(self, now: datetime) -> Self:
        """Filter the mails to be sent now: of each address the earliest that waits, so that they arrive in order."""
        earlier = CaseMail.objects.waiting().filter(address=OuterRef("address"), pk__lt=OuterRef("pk"))
        return self.waiting().filter(~Exists(earlier), next_at__lte=now)


class CaseMail(models.Model):
    """An e-mail to a student that is to be sent, or what became of it; its text is made when it is sent.

    `next_at` is when it is tried next; whoever sends it moves that on first, so that nobody else does meanwhile.
    """

    class Kind(models.TextChoices):
        CONFIRM = "confirm", _("asks to confirm the address")
        REPLY = "reply", _("a reply")
        CLOSED = "closed", _("says that the case is closed")

    class State(models.TextChoices):
        WAITING = "waiting", _("waits to be sent")
        SENT = "sent", _("sent")
        REFUSED = "refused", _("refused by the mail server")
        GIVEN_UP = "given_up", _("given up after three days")

    address = models.ForeignKey(CaseAddress, on_delete=models.CASCADE, related_name="mails")
    kind = models.CharField(max_length=7, choices=Kind)
    message = models.OneToOneField(CaseMessage, on_delete=models.CASCADE, null=True, related_name="mail")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(auto_now_add=True)
    next_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)

    objects = CaseMailQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="case_mails_to_be_sent"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"


class RefusedMailQuerySet(models.QuerySet["RefusedMail"]):
    def of_deleted_cases(self) -> Self:
        """Filter the mails whose case is deleted, so that they have to be deleted too."""
        return self.filter(~Exists(Case.objects.filter(pk=OuterRef("case"))))


class RefusedMail(models.Model):
    """A mail in the mailbox's folder of refused mails that may belong to a case.

    The row outlives the case until the mail is deleted, so the database does not check `case`. `headers_hash` is how
    the mail is found: a row holds no address and no words.
    """

    case = models.ForeignKey(Case, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    headers_hash = models.CharField(max_length=64)
    refused_at = models.DateTimeField(auto_now_add=True)

    objects = RefusedMailQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["headers_hash", "case"], name="one_row_a_refused_mail")]

    def __str__(self) -> str:
        return f"#{self.pk}"
