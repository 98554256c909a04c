"""Reads of the FAQs that read aloud."""

import datetime
from typing import TYPE_CHECKING, Self

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

if TYPE_CHECKING:
    pass


class FAQQuerySet(QuerySet["FAQ"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def valid_on(self, day: datetime.date) -> Self:
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=day), Q(valid_until__isnull=True) | Q(valid_until__gte=day)
        )

    def needing_index(self, recipe: str) -> Self:
        """FAQs with a text that has no vector of this recipe, or with a vector whose text is gone."""
        current = self.model.vectors.rel.related_model.objects.filter(recipe=recipe)  # type: ignore[attr-defined]
        phrasings = self.model.phrasings.rel.related_model.objects  # type: ignore[attr-defined]
        same_faq = {"faq": OuterRef("faq"), "text": OuterRef("text")}
        asked = current.filter(faq=OuterRef("pk"), text=OuterRef("question"))
        unindexed = phrasings.filter(~Exists(current.filter(**same_faq)), faq=OuterRef("pk"))
        orphaned = self.model.vectors.rel.related_model.objects.filter(  # type: ignore[attr-defined]
            ~Exists(phrasings.filter(**same_faq)) & ~Q(text=F("faq__question")), faq=OuterRef("pk")
        )
        return self.filter(~Exists(asked) | Exists(unindexed) | Exists(orphaned))

    def for_list(self) -> Self:
        """What the admin list shows, in a constant number of queries."""
        return self.select_related("category").annotate(
            source_count=Count("sources", distinct=True), phrasing_count=Count("phrasings", distinct=True)
        )
