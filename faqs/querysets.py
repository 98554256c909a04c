"""Reads of the FAQs that read aloud."""

import datetime
from typing import TYPE_CHECKING, Self

from django.apps import apps
from django.db.models import Count, Exists, OuterRef, Q

from knowledge.staff_scope import StaffScoped

if TYPE_CHECKING:
    from faqs.models import FAQ  # noqa: F401 (named in a base class)


class FAQQuerySet(StaffScoped["FAQ"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def valid_on(self, day: datetime.date) -> Self:
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=day), Q(valid_until__isnull=True) | Q(valid_until__gte=day)
        )

    def for_list(self) -> Self:
        """What the admin list shows, in a constant number of queries; without the FAQs of data sets."""
        sources = apps.get_model("faqs", "FAQSource").objects.filter(faq=OuterRef("pk"))
        of_data_set = Exists(sources.filter(document__collection__for_evaluation=True))
        of_university = Exists(sources.filter(document__collection__for_evaluation=False))
        return (
            self.filter(~of_data_set | of_university)
            .select_related("category")
            .annotate(source_count=Count("sources", distinct=True), phrasing_count=Count("phrasings", distinct=True))
        )
