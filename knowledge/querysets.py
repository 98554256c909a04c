"""Reads of the knowledge base that read aloud."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Self

from django.apps import apps
from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left

from knowledge.counting import count_of
from knowledge.guarding.injection import DOCUMENT_RECIPE
from knowledge.staff_scope import StaffScoped

if TYPE_CHECKING:
    from knowledge.models import Document, FlaggedText, Passage, PdfUpload  # noqa: F401 (named in a base class)


class DocumentQuerySet(StaffScoped["Document"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def of_university(self) -> Self:
        """Without the documents of data sets, which only serve to evaluate."""
        return self.filter(collection__for_evaluation=False)

    def in_collections(self, slugs: Iterable[str]) -> Self:
        return self.filter(collection__slug__in=list(slugs))

    def valid_on(self, day: date) -> Self:
        begun = Q(valid_from__isnull=True) | Q(valid_from__lte=day)
        return self.filter(begun, Q(valid_until__isnull=True) | Q(valid_until__gte=day))

    def from_source(self, source_id: int) -> Self:
        pages = apps.get_model("knowledge", "SourcePage").objects.filter(source=source_id)
        return self.filter(pk__in=pages.values("document"))

    def with_words(self, text: str) -> Self:
        """Those with each of the words: in the title, the address or the id, or in the text as a word's beginning."""
        # The expression of the index `document_by_words`; a subquery of its own, since under OR no index is used.
        words = SearchVector(Left("text", 200_000), config="simple")
        found = self
        for word in text.replace("\x00", "").split():
            quoted = word.replace("\\", "\\\\").replace("'", "''")
            query = SearchQuery(f"'{quoted}':*", search_type="raw", config="simple")
            in_text = self.model._default_manager.annotate(words=words).filter(words=query).values("pk")
            named = Q(title__icontains=word) | Q(url__icontains=word) | Q(external_id__icontains=word)
            found = found.filter(named | Q(pk__in=in_text))
        return found

    def in_index(self, generation_id: int) -> Self:
        """Documents whose present state this generation holds, looked at with the present rules for pages."""
        indexed = apps.get_model("knowledge", "IndexedDocument").objects.filter(
            generation=generation_id,
            document=OuterRef("pk"),
            state_hash=OuterRef("state_hash"),
            granularities=OuterRef("collection__granularities"),
            rules=DOCUMENT_RECIPE,
        )
        return self.filter(Exists(indexed))

    def needing_index(self, generation_id: int) -> Self:
        return self.exclude(pk__in=self.in_index(generation_id).values("pk"))

    def languages(self) -> list[str]:
        """A query for each: the next in an index is found at once, where all rows are read for all of them."""
        found: list[str] = []
        rows = self.order_by("language").values_list("language", flat=True)
        while (language := rows.filter(language__gt=found[-1] if found else "").first()) is not None:
            found.append(language)
        return found

    def for_list(self) -> Self:
        """What the admin list shows, in a constant number of queries."""
        passages = apps.get_model("knowledge", "Passage").objects.live()
        states = apps.get_model("knowledge", "IndexedDocument").objects.filter(
            generation__state="live", document=OuterRef("pk"), state_hash=OuterRef("state_hash")
        )
        counted = count_of(passages, by="document")
        annotated = self.of_university().annotate(passage_count=counted, indexed_now=Exists(states))
        return annotated.select_related("collection").defer("text")


class PdfUploadQuerySet(StaffScoped["PdfUpload"]):
    def unfinished(self) -> Self:
        return self.filter(status__in=[self.model.Status.WAITING, self.model.Status.READING])

    def untouched_since(self, moment: datetime) -> Self:
        """Unfinished ones whose task was lost: reading tells of every page."""
        return self.unfinished().filter(changed_at__lt=moment)


class FlaggedTextQuerySet(StaffScoped["FlaggedText"]):
    owner = "document__collection"

    def for_queue(self) -> Self:
        """Those of documents that may be used in answers."""
        return self.exclude(document__status="archived")

    def to_check(self) -> Self:
        return self.for_queue().filter(state=self.model.State.OPEN)


class PassageQuerySet(QuerySet["Passage"]):
    def live(self) -> Self:
        """Those that questions are answered from."""
        return self.filter(generation__state="live")

    def retrievable(self, generation_id: int) -> Self:
        """Passages of published documents as one generation has them, without those that staff must clear first."""
        return self.filter(generation=generation_id, document__status="published", is_withheld=False)

    def in_collections(self, collection_ids: Iterable[int]) -> Self:
        return self.filter(document__collection_id__in=list(collection_ids))
