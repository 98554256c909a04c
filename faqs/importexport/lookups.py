"""What the rows of a file name, looked up in the database at once: FAQs, documents, categories, collections."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext as _

from faqs.importexport.files import Row
from faqs.models import FAQ, Category, main_language
from knowledge.admin.collections import university_collections
from knowledge.models import Document

if TYPE_CHECKING:
    from core.access import Staff

NEW_LINE = re.compile(r"\r\n|\r|\n")
#: A row, the FAQ that it makes, and what is wrong with it as (column, what to do).
Read = tuple[Row, Any, list[tuple[str, str]]]


class Known:
    """Of those that one of the staff works on."""

    def __init__(self, rows: Sequence[Row], user: "Staff") -> None:
        numbers, ids, questions = (_values(rows, name) for name in ("number", "id", "question"))
        named = Q(pk__in=_numbers(numbers)) | Q(external_id__in=ids) | Q(question__in=questions)
        found = list(FAQ.objects.of_university().visible_to(user).with_parts().filter(named).order_by("pk"))
        self._by_number = {str(faq.pk): faq for faq in found}
        self._by_id = {faq.external_id: faq for faq in found if faq.external_id}
        self._by_question: dict[str, list[FAQ]] = defaultdict(list)
        for faq in found:
            self._by_question[faq.question].append(faq)
        self._ids = dict(FAQ.objects.filter(external_id__in=ids - {""}).order_by().values_list("external_id", "pk"))
        self.categories = {each.name: each for each in Category.objects.filter(name__in=_values(rows, "category"))}
        self.collections = {
            name: collection
            for collection in university_collections().visible_to(user)
            for name in (collection.slug, collection.name)
        }
        urls = {url for row in rows for url in _lines(row.cells.get("sources"))}
        pages = Document.objects.of_university().visible_to(user).filter(url__in=urls).defer("text")
        self._documents: dict[str, list[Document]] = defaultdict(list)
        for document in pages.exclude(status=Document.Status.ARCHIVED).order_by(
            "-collection__searched_by_default", "pk"
        ):
            self._documents[document.url].append(document)

    def faq_of(self, row: dict[str, Any]) -> FAQ | None:
        """By number, else by id, else by question; raises ValidationError."""
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
        """Whether its id is another FAQ's, be it of other staff."""
        return self._ids.get(faq.external_id, faq.pk) != faq.pk

    def document_at(self, url: str, collection_id: int | None) -> Document | None:
        """Of the FAQ's own collection if possible, else of one that is searched by default."""
        there = self._documents.get(url, [])
        return next((each for each in there if each.collection_id == collection_id), there[0] if there else None)


class Translations:
    """Which FAQ each row is a translation of: one in the database, or one in the same file."""

    def __init__(self, rows: Sequence[Read], user: "Staff") -> None:
        names = {name for _row, faq, _problems in rows if isinstance(name := faq.translation_name, str)} - {""}
        named = Q(pk__in=_numbers(names)) | Q(external_id__in=names) | Q(question__in=names)
        there = FAQ.objects.of_university().visible_to(user).filter(named).order_by("-pk")
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

    def problem_of(self, faq: Any) -> str:
        if not faq.translation_name:
            return ""
        original = self._faqs.get(faq.translation_name)
        if original is None or original is faq or (original.pk and original.pk == faq.pk):
            said = _("“%(name)s” is neither the number, nor the id, nor the question of another FAQ of yours.")
            return said % {"name": faq.translation_name[:80]}
        if id(original) in self._wrong:
            return _("The FAQ that it translates is wrong in this file: mend that row first.")
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
        """Where the file has the column; to be called when there is no problem."""
        if faq.translation_name is not None:
            faq.translation_of = self._faqs[faq.translation_name] if faq.translation_name else None

    def _name(self, faq: Any) -> None:
        for name in (faq.question, faq.external_id, str(faq.pk or "")):
            if name:
                self._faqs[name] = faq


def _values(rows: Iterable[Row], name: str) -> set[str]:
    return {value for row in rows if isinstance(value := row.cells.get(name), str)}


def _lines(value: Any) -> list[str]:
    return [line.strip() for line in (value if isinstance(value, list) else NEW_LINE.split(str(value or "")))]


def _numbers(texts: Iterable[str]) -> list[int]:
    return [int(text) for text in texts if text.isdecimal() and len(text) < 19]
