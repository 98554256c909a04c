"""FAQs and their categories."""

import datetime
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce, Upper
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from core.language import TAG
from core.text import search_words
from knowledge.models import Collection, Document, changed_since

if TYPE_CHECKING:
    from django.db.models import QuerySet


class Category(models.Model):
    name = models.CharField(_("name"), max_length=200, unique=True)

    class Meta:
        verbose_name = _("category")
        verbose_name_plural = _("categories")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


SOON = datetime.timedelta(days=14)
#: Languages in which staff write answers.
ANSWER_LANGUAGES = ("de", "en")
ANSWER_FIELDS = ("answer_de", "answer_en", "office_de", "office_en", "answer_checked_on")
#: A longer text is a page, and belongs on the website.
MOST_ANSWER_CHARACTERS = 5_000


class FAQQuerySet(StaffScoped["FAQ"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def valid_on(self, day: datetime.date) -> Self:
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=day), Q(valid_until__isnull=True) | Q(valid_until__gte=day)
        )

    def expiring(self, *, within: datetime.timedelta = SOON) -> Self:
        """Return published FAQs whose last day is today or within that time."""
        today = timezone.localdate()
        return self.published().filter(valid_until__range=(today, today + within))

    def with_changed_sources(self) -> Self:
        """Return FAQs not retired with a document that is not as it was when staff last checked that it answers."""
        changed = _sources().filter(changed_since("verified_at", "document__"), faq=OuterRef("pk"))
        return self.exclude(status=self.model.Status.RETIRED).filter(Exists(changed))

    def answered_by_staff(self) -> Self:
        """Return FAQs with an answer in staff's own words."""
        return self.exclude(answer_de="", answer_en="")

    def without_answer(self) -> Self:
        """Return FAQs with neither an answer nor a document."""
        return self.filter(~Exists(_sources().filter(faq=OuterRef("pk"))), answer_de="", answer_en="")

    def with_expired_answer(self) -> Self:
        """Return published FAQs whose answer is no longer shown."""
        return self.published().answered_by_staff().filter(valid_until__lt=timezone.localdate())

    def behind_their_original(self) -> Self:
        """Return translations that nobody has saved since their original changed."""
        return self.exclude(status=self.model.Status.RETIRED).filter(
            translation_of__altered_at__gt=Coalesce("reviewed_at", "created_at")
        )

    def of_university(self) -> Self:
        """Leave out the FAQs of data sets, whose documents only serve to evaluate."""
        sources = _sources().filter(faq=OuterRef("pk"))
        of_data_set = Exists(sources.filter(document__collection__for_evaluation=True))
        of_university = Exists(sources.filter(document__collection__for_evaluation=False))
        return self.filter(~of_data_set | of_university)

    def newest_office(self) -> dict[str, str]:
        """Return the names of the office that signed the newest answer, by field; empty if none is signed."""
        signed = self.exclude(office_de="", office_en="").exclude(answer_de="", answer_en="")
        newest = signed.order_by("-updated_at", "-pk").values_list("office_de", "office_en").first()
        return dict(zip(("office_de", "office_en"), newest, strict=True)) if newest else {}

    def with_words(self, text: str) -> Self:
        """Return FAQs with each of the words, or part of one, in the question or in a phrasing."""
        phrasings = apps.get_model("faqs", "Phrasing").objects.order_by()
        found = self
        for word in search_words(text):
            # A union, since under OR no index is used.
            asked = self.model._default_manager.order_by().filter(question__icontains=word).values("pk")
            found = found.filter(pk__in=asked.union(phrasings.filter(text__icontains=word).values("faq")))
        return found

    def with_parts(self) -> Self:
        """Fetch all that `faqs.versions.snapshots.read_content` reads, in a constant number of queries."""
        sources = _sources().order_by("position", "pk").select_related("document").defer("document__text")
        return self.select_related("category", "collection", "translation_of").prefetch_related(
            "phrasings", Prefetch("sources", sources)
        )

    def for_list(self) -> Self:
        """Return what the admin list shows, in a constant number of queries, without the FAQs of data sets."""
        # Subqueries, which are run for the rows of the page alone; a join would count those of all FAQs first.
        sources = _sources().filter(faq=OuterRef("pk"))
        phrasings = apps.get_model("faqs", "Phrasing").objects.filter(faq=OuterRef("pk"))
        return (
            self.of_university()
            .select_related("category")
            .annotate(
                source_count=_count(sources),
                phrasing_count=_count(phrasings),
                has_changed_source=Exists(sources.filter(changed_since("verified_at", "document__"))),
            )
        )


class FAQ(models.Model):
    """A question staff know the answer to; students' questions close to it rank its documents first.

    `answer_de` and `answer_en` are the answer in staff's own words, which students see word for word.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        IN_REVIEW = "in_review", _("in review")
        PUBLISHED = "published", _("published")
        RETIRED = "retired", _("retired")

    external_id = models.CharField(_("id at its source"), max_length=200, blank=True)
    question = models.CharField(_("question"), max_length=1000)
    category = models.ForeignKey(
        Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="faqs", verbose_name=_("category")
    )
    collection = models.ForeignKey(
        Collection,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="faqs",
        verbose_name=_("collection"),
        help_text=_("Gives the responsible team (empty: staff with full access)."),
    )
    language = models.CharField(
        _("language"),
        max_length=12,
        default="en",
        help_text=_("The language of the text: en is English, de is German."),
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)
    valid_from = models.DateField(_("valid from"), null=True, blank=True)
    valid_until = models.DateField(
        _("valid until"),
        null=True,
        blank=True,
        help_text=_("The last day on which it counts and its answer is shown; empty: no end."),
    )
    reference_answer = models.TextField(
        _("key points (internal)"),
        blank=True,
        help_text=_("What a good answer says. It only helps to choose what is quoted of the linked pages."),
    )
    answer_de = models.TextField(
        _("answer in German"),
        blank=True,
        max_length=MOST_ANSWER_CHARACTERS,
        help_text=_("Students see it word for word. Markdown: - starts a list item, **bold**."),
    )
    answer_en = models.TextField(
        _("answer in English"),
        blank=True,
        max_length=MOST_ANSWER_CHARACTERS,
        help_text=_("Students who ask in English see this one; without it, the German one with a note."),
    )
    office_de = models.CharField(
        _("office, in German"),
        max_length=200,
        blank=True,
        help_text=_("Follows “Antwort von”, such as: der Studienberatung."),
    )
    office_en = models.CharField(
        _("office, in English"),
        max_length=200,
        blank=True,
        help_text=_("Follows “Answer by”, such as: the Student Service Centre."),
    )
    answer_checked_on = models.DateField(
        _("checked on"),
        null=True,
        blank=True,
        help_text=_("When the office last checked the answer. Students see this date. Empty: today."),
    )
    translation_of = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="translations",
        verbose_name=_("translation of"),
        help_text=_("The same question in the language it was first written in."),
    )
    documents = models.ManyToManyField(Document, through="FAQSource", related_name="faqs", verbose_name=_("documents"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)
    # When what it says last became another: its translations may be wrong since.
    altered_at = models.DateTimeField(null=True, editable=False)
    # When staff last saved it or said that it is still right.
    reviewed_at = models.DateTimeField(null=True, editable=False)
    # The generation in which it was last compared with all others; empty: its words have changed since.
    compared_in = models.BigIntegerField(null=True, editable=False)

    objects = FAQQuerySet.as_manager()

    class Meta:
        verbose_name = _("FAQ")
        verbose_name_plural = _("FAQs")
        ordering = ["question", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["external_id"], condition=~models.Q(external_id=""), name="one_faq_an_external_id"
            ),
            models.CheckConstraint(
                condition=models.Q(valid_from=None)
                | models.Q(valid_until=None)
                | models.Q(valid_from__lte=models.F("valid_until")),
                name="faq_valid_from_before_until",
                violation_error_message=_("“Valid until” lies before “valid from”."),
            ),
            models.UniqueConstraint(
                fields=["translation_of", "language"],
                name="one_translation_a_language",
                violation_error_message=_("There is a translation into this language already."),
            ),
            models.CheckConstraint(
                condition=~models.Q(translation_of=models.F("pk")),
                name="faq_translates_another",
                violation_error_message=_("An FAQ is no translation of itself."),
            ),
        ]
        indexes = [
            models.Index(fields=["status", "valid_until"]),
            models.Index(fields=["-updated_at", "-id"], name="faq_by_last_change"),
            # For staff's search; students' questions are matched by their vectors.
            GinIndex(OpClass(Upper("question"), name="gin_trgm_ops"), name="faq_by_words"),
            models.Index(fields=["id"], condition=models.Q(compared_in=None), name="faq_not_compared"),
        ]
        permissions = [("publish_faq", _("Can publish FAQ, change what is published, and retire it"))]

    def __str__(self) -> str:
        return self.question

    @property
    def has_answer(self) -> bool:
        """Return whether it has an answer of staff's own, or a document that is no draft."""
        return (
            bool(self.written_answers)
            or _sources().filter(faq=self).exclude(document__status=Document.Status.DRAFT).exists()
        )

    @property
    def written_answers(self) -> dict[str, str]:
        """The answers that staff wrote, by language; empty if they wrote none."""
        texts = {language: getattr(self, f"answer_{language}").strip() for language in ANSWER_LANGUAGES}
        return {language: text for language, text in texts.items() if text}

    def office(self, language: str) -> str:
        """Return who signs the answer in that language; empty if nobody is named."""
        return str(getattr(self, f"office_{language}"))

    def date_answer(self) -> None:
        """Set the date of the check of an answer that has none: whoever writes one has checked it."""
        if not self.written_answers:
            self.answer_checked_on = None
        elif self.answer_checked_on is None:
            self.answer_checked_on = timezone.localdate()

    def clean(self) -> None:
        """Check the answer's date, and that a translation is of an FAQ in another language that is not one itself."""
        if not TAG.fullmatch(self.language):
            raise ValidationError({"language": _("Write a language such as en or de.")})
        self.date_answer()
        if self.answer_checked_on and self.answer_checked_on > timezone.localdate():
            raise ValidationError({"answer_checked_on": _("This day is still to come: write the day of the check.")})
        original = self.translation_of
        if original is None:
            return
        if original.translation_of_id:
            raise ValidationError(
                {"translation_of": _("This FAQ is a translation itself: choose the one that it was made from.")}
            )
        if self.pk and self.translations.exists():
            raise ValidationError(
                {"translation_of": _("This FAQ has translations of its own, so it can be none of another.")}
            )
        if main_language(original.language) == main_language(self.language):
            raise ValidationError({"translation_of": _("It is in the same language: a translation is in another.")})


def main_language(tag: str) -> str:
    """Return the main language of a tag, such as `de` of `de-AT`."""
    return tag.split("-")[0].lower()


def _count(rows: "QuerySet[Any]") -> Coalesce:
    counted = rows.order_by().values("faq").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def _sources() -> "QuerySet[Any]":
    return apps.get_model("faqs", "FAQSource").objects.order_by()
