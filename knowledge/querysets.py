"""Reads of the knowledge base that read aloud."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from django.apps import apps
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

if TYPE_CHECKING:
    from knowledge.models import Document, Passage  # noqa: F401 (named in a base class)


class DocumentQuerySet(QuerySet["Document"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def in_collections(self, slugs: Iterable[str]) -> Self:
        return self.filter(collection__slug__in=list(slugs))

    def needing_index(self, recipe: str) -> Self:
        """Documents whose last edit, or the embedder's recipe, is not in the index yet."""
        return self.filter(~Q(indexed_state=F("state_hash")) | ~Q(indexed_recipe=recipe))

    def for_list(self) -> Self:
        """What the admin list shows, in a constant number of queries."""
        # A subquery, since a join would count the passages of every document before it sorts and pages.
        passages = apps.get_model("knowledge", "Passage").objects.filter(document=OuterRef("pk"))
        per_document = passages.order_by().values("document").annotate(count=Count("pk")).values("count")
        counted = Coalesce(Subquery(per_document), 0)
        return self.select_related("collection").annotate(passage_count=counted).defer("text")


class PassageQuerySet(QuerySet["Passage"]):
    def retrievable(self) -> Self:
        """Passages of published documents that have a vector."""
        return self.filter(document__status="published", embedding__isnull=False)

    def in_collections(self, collection_ids: Iterable[int]) -> Self:
        return self.filter(document__collection_id__in=list(collection_ids))
