"""Lookups for an import: the FAQs, documents, categories and collections that its rows name, read at once."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext as _

from faqs.importexport.files import Row
from faqs.models import FAQ, Category, FAQQuerySet, main_language
from faqs.versions.history import hold
from knowledge.admin.collections import university_collections
from knowledge.models import Collection, Document

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from core.access import Staff

NEW_LINE = re.compile(r"\r\n|\r|\n")
#: A row, the FAQ that it makes, and what is wrong with it as (column, what to do).
Read = tuple[Row, Any, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that an import may name: those of a data set's collection, or the university's that `user` works on.

    Without a user, an operator imports, who works on everything.
    """

    user: "Staff | None" = None
    collection: Collection | None = None

    def faqs(self) -> FAQQuerySet:
        found: FAQQuerySet = self._visible(FAQ.objects)
        return found

    def documents(self) -> "QuerySet[Document]":
        found: QuerySet[Document] = self._visible(Document.objects)
        return found

    def collections(self) -> "QuerySet[Collection]":
        found = university_collections()
        return found.visible_to(self.user) if self.user else found

    def _visible(self, rows: Any) -> Any:
        if self.collection:
            return rows.filter(collection=self.collection)
        found = rows.of_university()
        return found.visible_to(self.user) if self.user else found


class Lookups:
    """The rows in the scope that the file names. `lock` keeps the FAQs as they are until the transaction ends."""

    def __init__(self, rows: Sequence[Row], scope: Scope, *, lock: bool = False) -> None:
        numbers, ids, questions = (_values(rows, name) for name in ("number", "id", "question"))
        named = Q(pk__in=_numbers(numbers)) | Q(external_id__in=ids) | Q(question__in=questions)
        chosen = scope.faqs().filter(named)
        if lock:
            hold(chosen.values_list("pk", flat=True))
        found = list(chosen.with_parts().order_by("pk"))
        self._by_number = {str(faq.pk): faq for faq in found}
        self._by_id = {faq.external_id: faq for faq in found if faq.external_id}
        self._by_question: dict[str, list[FAQ]] = defaultdict(list)
        for faq in found:
            self._by_question[faq.question].append(faq)
        self._ids = dict(FAQ.objects.filter(external_id__in=ids - {""}).order_by().values_list("external_id", "pk"))
        self.categories = {each.name: each for each in Category.objects.filter(name__in=_values(rows, "category"))}
        self.collections = {
            name: collection for collection in scope.collections() for name in (collection.slug, collection.name)
        }
        urls = {url for row in rows for url in _lines(row.cells.get("sources"))}
        pages = scope.documents().filter(url__in=urls).select_related("collection").defer("text")
        self._documents: dict[str, list[Document]] = defaultdict(list)
        for document in pages.exclude(status=Document.Status.ARCHIVED).order_by(
            "-collection__searched_by_default", "pk"
        ):
            self._documents[document.url].append(document)

    def find_faq(self, row: dict[str, Any]) -> FAQ | None:
        """Find the row's FAQ by its number, else by its id, else by its question. Raise ValidationError."""
        if number := row.get("number"):
            if number not in self._by_number:
                said = _("No FAQ of yours has the number %(number)s: leave the cell empty for a new one.")
                raise ValidationError({"number": said % {"number": number}})
            return self._by_number[number]
        if key := row.get("id"):
            return self._by_id.get(key)
        same = self._by_question.get(row.get("question", ""), [])
        if len(same) > 1:
            said = _("Several FAQs ask exactly this: write the number of the one that you mean (%(numbers)s).")
            raise ValidationError({"number": said % {"numbers": ", ".join(str(faq.pk) for faq in same)}})
        return same[0] if same else None

    def is_taken(self, faq: FAQ) -> bool:
        """Return whether another FAQ has this one's id, also one that the importing user cannot see."""
        return self._ids.get(faq.external_id, faq.pk) != faq.pk

    def find_document(self, url: str, collection_id: int | None) -> Document | None:
        """Prefer the FAQ's own collection, then one that is searched by default."""
        there = self._documents.get(url, [])
        return next((each for each in there if each.collection_id == collection_id), there[0] if there else None)


class TranslationLookup:
    """The FAQ that each row is a translation of: one in the database, or one in the same file."""

    def __init__(self, rows: Sequence[Read], scope: Scope) -> None:
        names = {name for _row, faq, _problems in rows if isinstance(name := faq.translation_name, str)} - {""}
        named = Q(pk__in=_numbers(names)) | Q(external_id__in=names) | Q(question__in=names)
        there = scope.faqs().filter(named).order_by("-pk")
        self._faqs: dict[str, Any] = {}
        self._wrong: set[int] = set()
        for faq in there:
            self._name(faq)
        for _row, faq, problems in rows:
            self._name(faq)
            if problems:
                self._wrong.add(id(faq))
        originals = [faq.pk for faq in self._faqs.values() if faq.pk]
        taken = FAQ.objects.filter(translation_of__in=originals).order_by()
        self._taken: dict[tuple[Any, str], Any] = {
            (original, main_language(language)): pk
            for original, language, pk in taken.values_list("translation_of", "language", "pk")
        }
        self._originals = set(
            FAQ.objects.filter(pk__in=[faq.pk for _row, faq, _problems in rows if faq.pk], translations__isnull=False)
            .order_by()
            .values_list("pk", flat=True)
        )

    def find_problem(self, faq: Any) -> str:
        """Return what is wrong with the translation that the row claims to be, or an empty text."""
        if not faq.translation_name:
            return ""
        original = self._faqs.get(faq.translation_name)
        if original is None or original is faq or (original.pk and original.pk == faq.pk):
            said = _("“%(name)s” is neither the number, nor the id, nor the question of another FAQ of yours.")
            return said % {"name": faq.translation_name[:80]}
        if id(original) in self._wrong:
            return _("The row of the FAQ that it translates is wrong: correct that row first.")
        if original.translation_of_id or getattr(original, "translation_name", ""):
            return _("This FAQ is a translation itself: choose the one that it was made from.")
        if faq.pk in self._originals:
            return _("This FAQ has translations of its own, so it can be none of another.")
        language = main_language(faq.language)
        if main_language(original.language) == language:
            return _("It is in the same language: a translation is in another.")
        key = (original.pk or id(original), language)
        if self._taken.setdefault(key, faq.pk or id(faq)) != (faq.pk or id(faq)):
            return _("There is a translation into this language already.")
        return ""

    def link(self, faq: Any) -> None:
        """Link the FAQ to its original if the file has the column. Call it only if there is no problem."""
        if faq.translation_name is not None:
            faq.translation_of = self._faqs[faq.translation_name] if faq.translation_name else None

    def _name(self, faq: Any) -> None:
        for name in (faq.question, faq.external_id, str(faq.pk or "")):
            if name:
                self._faqs[name] = faq


def _values(rows: Iterable[Row], name: str) -> set[str]:
    return {value for row in rows if isinstance(value := row.cells.get(name), str)}


def _lines(value: Any) -> list[str]:
    lines = value if isinstance(value, list) else NEW_LINE.split(str(value or ""))
    return [line.strip() for line in lines if isinstance(line, str)]


def _numbers(texts: Iterable[str]) -> list[int]:
    return [int(text) for text in texts if text.isdecimal() and len(text) < 19]
