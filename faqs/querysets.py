"""Reads of the FAQs that read aloud."""

import datetime
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from knowledge.staff_scope import StaffScoped, sees_everything

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from faqs.models import FAQ, FAQSource, SimilarPair  # noqa: F401 (named in base classes)
    from knowledge.staff_scope import Staff

SOON = datetime.timedelta(days=14)


class FAQQuerySet(StaffScoped["FAQ"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def valid_on(self, day: datetime.date) -> Self:
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=day), Q(valid_until__isnull=True) | Q(valid_until__gte=day)
        )

    def expiring(self, *, within: datetime.timedelta = SOON) -> Self:
        """Published ones whose last day is today or comes within that time."""
        today = timezone.localdate()
        return self.published().filter(valid_until__range=(today, today + within))

    def with_changed_sources(self) -> Self:
        """Those in use, or to be, with a document that changed since staff last saw that it answers."""
        changed = _sources().filter(faq=OuterRef("pk"), document__altered_at__gt=F("verified_at"))
        return self.exclude(status=self.model.Status.RETIRED).filter(Exists(changed))

    def behind_their_original(self) -> Self:
        """Translations that nobody has saved since what their original says was changed."""
        return self.exclude(status=self.model.Status.RETIRED).filter(
            translation_of__altered_at__gt=Coalesce("reviewed_at", "created_at")
        )

    def of_university(self) -> Self:
        """Without those of data sets, all of whose documents only serve to evaluate."""
        sources = _sources().filter(faq=OuterRef("pk"))
        of_data_set = Exists(sources.filter(document__collection__for_evaluation=True))
        of_university = Exists(sources.filter(document__collection__for_evaluation=False))
        return self.filter(~of_data_set | of_university)

    def with_words(self, text: str) -> Self:
        """Those with each of the words, or part of one, in the question or in a phrasing."""
        phrasings = apps.get_model("faqs", "Phrasing").objects.order_by()
        found = self
        for word in text.replace("\x00", "").split():
            # A union, since under OR no index is used.
            asked = self.model._default_manager.order_by().filter(question__icontains=word).values("pk")
            found = found.filter(pk__in=asked.union(phrasings.filter(text__icontains=word).values("faq")))
        return found

    def with_parts(self) -> Self:
        """With all that `faqs.snapshots.content_of` reads, in a constant number of queries."""
        sources = _sources().order_by("position", "pk").select_related("document").defer("document__text")
        return self.select_related("category", "collection", "translation_of").prefetch_related(
            "phrasings", Prefetch("sources", sources)
        )

    def for_list(self) -> Self:
        """What the admin list shows, in a constant number of queries; without the FAQs of data sets."""
        # Subqueries, which are run for the rows of the page alone; a join would count those of all FAQs first.
        sources = _sources().filter(faq=OuterRef("pk"))
        phrasings = apps.get_model("faqs", "Phrasing").objects.filter(faq=OuterRef("pk"))
        return (
            self.of_university()
            .select_related("category")
            .annotate(
                source_count=_count(sources),
                phrasing_count=_count(phrasings),
                has_changed_source=Exists(sources.filter(document__altered_at__gt=F("verified_at"))),
            )
        )


class SimilarPairQuerySet(StaffScoped["SimilarPair"]):
    def for_staff(self, user: "Staff") -> Self:
        """Pairs both of whose FAQs one works on."""
        if sees_everything(user):
            return self
        own = apps.get_model("faqs", "FAQ").objects.for_staff(user)
        return self.filter(first__in=own, second__in=own)

    def to_look_at(self) -> Self:
        """Of FAQs in use, or to be; not those that staff called no duplicates."""
        return self.filter(dismissed_at=None).exclude(first__status="retired").exclude(second__status="retired")

    def of(self, faq_id: int) -> Self:
        return self.filter(Q(first=faq_id) | Q(second=faq_id))


def _sources() -> "QuerySet[FAQSource]":
    return apps.get_model("faqs", "FAQSource").objects.order_by()


def _count(rows: "QuerySet[Any]") -> Coalesce:
    counted = rows.order_by().values("faq").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)
