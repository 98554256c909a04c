"""FAQs as rows of a file: what each column means, and what importing a file would change. Writes nothing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from import_export import resources
from import_export.fields import Field

from core.access import sees_everything
from core.hashing import fingerprint
from core.language import TAG, guess_language
from faqs.importexport.files import BadTable, Row, Table
from faqs.importexport.lookups import Known, Read, Translations
from faqs.importexport.widgets import DayWidget, ListWidget, StatusWidget, TextWidget
from faqs.models import FAQ, Category
from faqs.versions.snapshots import Content, content_of, content_with, fingerprint_of

if TYPE_CHECKING:
    from core.access import Staff

Status = FAQ.Status
#: What everybody who may import FAQs may make of one.
BEFORE_PUBLISHING = (Status.DRAFT, Status.IN_REVIEW)


@dataclass(frozen=True, slots=True)
class Planned:
    """What a row would do: `kind` is new, changed, unchanged or wrong. `problems` are (column, what to do)."""

    line: int
    kind: str
    faq: FAQ
    before: Content | None = None
    after: Content | None = None
    problems: tuple[tuple[str, str], ...] = ()


def fingerprint_of_plan(planned: list[Planned]) -> str:
    """The same while importing the file would do the same."""
    parts: list[str] = []
    for each in planned:
        parts += [str(each.line), each.kind]
        parts += [fingerprint_of(content) for content in (each.before, each.after) if content]
    return fingerprint(*parts)


class FAQResource(resources.Resource):  # type: ignore[misc]
    """Columns of a file, and its rows as FAQs that are not saved. One is made for each import, by one of the staff.

    An FAQ is found by its number, else by its id, else by its question. A column that is not in the file changes
    nothing. A planned FAQ has, besides its fields, `phrasing_texts` and `source_documents`, which are not saved either.
    """

    number = Field("pk", "number", TextWidget(), readonly=True)
    id = Field("external_id", "id", TextWidget(200))
    question = Field("question", "question", TextWidget(1000))
    phrasings = Field("phrasing_texts", "phrasings", ListWidget(1000))
    sources = Field("source_urls", "sources", ListWidget(2000))
    category = Field("category_name", "category", TextWidget(200))
    language = Field("language", "language", TextWidget(12))
    status = Field("status", "status", StatusWidget(), saves_null_values=False)
    valid_from = Field("valid_from", "valid_from", DayWidget())
    valid_until = Field("valid_until", "valid_until", DayWidget())
    reference_answer = Field("reference_answer", "reference_answer", TextWidget())
    collection = Field("collection_name", "collection", TextWidget())
    translation_of = Field("translation_name", "translation_of", TextWidget())

    class Meta:
        model = FAQ
        skip_diff = True
        use_bulk = True  # rows are saved together, by `faqs.services.import_planned`
        import_order = export_order = (
            "number",
            "id",
            "question",
            "phrasings",
            "sources",
            "category",
            "language",
            "status",
            "valid_from",
            "valid_until",
            "reference_answer",
            "collection",
            "translation_of",
        )

    def __init__(self, *, user: "Staff", may_publish: bool, may_add_categories: bool) -> None:
        super().__init__()
        self.user, self.may_publish, self.may_add_categories = user, may_publish, may_add_categories
        self.needs_collection = not sees_everything(user)

    # --- what a file would change ---

    def plan(self, table: Table) -> list[Planned]:
        """In the file's order; raises BadTable."""
        columns = [field.column_name for field in self.get_import_fields()]
        if unknown := [column for column in table.columns if column not in columns]:
            said = _("The column “%(column)s” is not known. There are: %(known)s.")
            raise BadTable(said % {"column": unknown[0], "known": ", ".join(columns)})
        if "question" not in table.columns:
            raise BadTable(_("The column “question” is missing. The template has every column."))
        self.known = Known(table.rows, self.user)
        self._lines: dict[tuple[int, str, str], int] = {}
        rows = [self._read(row) for row in table.rows]
        linked = Translations(rows, self.user)
        return [self._planned(row, faq, problems, linked) for row, faq, problems in rows]

    def _read(self, row: Row) -> Read:
        self._line, self._faq = row.line, self.init_instance()
        self._before: Content | None = None
        result = self.import_row(dict(row.cells), None, dry_run=True, using_transactions=False, row_number=row.line)
        if result.errors:
            raise result.errors[0].error
        problems: list[tuple[str, str]] = []
        if row.surplus:
            said = _("There are more cells than columns: a text with the separator in it needs quotation marks.")
            problems.append(("", said))
        if result.validation_error:
            problems += [
                (COLUMNS.get(name, name), " ".join(map(str, messages)))
                for name, messages in result.validation_error.message_dict.items()
            ]
        self._faq.translation_name = row.cells.get("translation_of")  # type: ignore[attr-defined]
        self._faq.before = self._before  # type: ignore[attr-defined]
        return row, self._faq, problems

    def _planned(self, row: Row, faq: Any, problems: list[tuple[str, str]], linked: Translations) -> Planned:
        if not problems and (problem := linked.problem_of(faq)):
            problems = [("translation_of", problem)]
        if problems:
            return Planned(row.line, "wrong", faq, problems=tuple(problems))
        linked.link(faq)
        after = content_with(faq, phrasings=faq.phrasing_texts, documents=faq.source_documents)
        if faq.before is None:
            return Planned(row.line, "new", faq, None, after)
        kind = "unchanged" if fingerprint_of(faq.before) == fingerprint_of(after) else "changed"
        return Planned(row.line, kind, faq, faq.before, after)

    # --- import-export's hooks, in the order in which it calls them ---

    def get_instance(self, instance_loader: Any, row: dict[str, Any]) -> FAQ | None:
        """The FAQ that the row is about; raises ValidationError."""
        if lists := [
            name for name in ("number", "id", "question", "translation_of") if isinstance(row.get(name), list)
        ]:
            raise ValidationError({lists[0]: _("Write one text here, not a list.")})
        faq = self.known.faq_of(row)
        key = (faq.pk, "", "") if faq else (0, row.get("id") or "", "" if row.get("id") else row.get("question") or "")
        if key in self._lines:
            said = _("Line %(line)s is about the same FAQ already: delete one of the two.")
            raise ValidationError({"question": said % {"line": self._lines[key]}})
        self._lines[key] = self._line
        if faq:
            self._faq = faq
        return faq

    def init_instance(self, row: Any = None) -> FAQ:
        self._faq = FAQ(status=Status.DRAFT, language="")
        return self._faq

    def after_init_instance(self, instance: Any, new: bool, row: dict[str, Any], **kwargs: Any) -> None:
        instance.phrasing_texts = [] if new else [phrasing.text for phrasing in instance.phrasings.all()]
        instance.source_documents = [] if new else [source.document for source in instance.sources.all()]
        self._before = None if new else content_of(instance)
        if not new and not self.may_publish and instance.status not in BEFORE_PUBLISHING:
            raise ValidationError(
                {"status": _("This FAQ is published or retired: only who may publish can change it.")}
            )

    def import_instance(self, instance: Any, row: dict[str, Any], **kwargs: Any) -> None:
        errors: dict[str, Any] = {}
        try:
            super().import_instance(instance, row, **kwargs)
        except ValidationError as error:
            errors = error.update_error_dict({})
        for name, resolve in (
            ("category", self._category),
            ("collection", self._collection),
            ("sources", self._sources),
        ):
            if name in row and name not in {COLUMNS.get(each, each) for each in errors}:
                try:
                    resolve(instance)
                except ValueError as error:
                    errors[name] = [ValidationError(str(error))]
        if not instance.language:
            before = self._before
            instance.language = before["language"] if before else guess_language(instance.question)
        instance.phrasing_texts = [text for text in instance.phrasing_texts if text != instance.question]
        if errors:
            raise ValidationError(errors)

    def validate_instance(
        self, instance: Any, import_validation_errors: Any = None, validate_unique: bool = True
    ) -> None:
        errors = dict(import_validation_errors or {})
        for name, message in self._mistakes(instance):
            errors.setdefault(name, [ValidationError(message)])
        if errors:
            raise ValidationError(errors)

    def skip_row(self, *args: Any, **kwargs: Any) -> bool:
        return False

    def save_instance(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is written here."""

    # --- what a cell means ---

    def _category(self, faq: Any) -> None:
        faq.category = self.known.categories.get(faq.category_name) if faq.category_name else None
        if faq.category_name and faq.category is None:
            if not self.may_add_categories:
                raise ValueError(
                    _("There is no category “%(name)s”: choose one that is there.") % {"name": faq.category_name}
                )
            faq.category = self.known.categories[faq.category_name] = Category(name=faq.category_name)

    def _collection(self, faq: Any) -> None:
        faq.collection = self.known.collections.get(faq.collection_name) if faq.collection_name else None
        if faq.collection_name and faq.collection is None:
            names = ", ".join(sorted({collection.slug for collection in self.known.collections.values()}))
            said = _("“%(name)s” is none of your collections: write one of %(known)s.")
            raise ValueError(said % {"name": faq.collection_name, "known": names or "–"})

    def _sources(self, faq: Any) -> None:
        linked = {document.url: document for document in faq.source_documents}
        found = {url: self.known.document_at(url, faq.collection_id) or linked.get(url) for url in faq.source_urls}
        if missing := [url for url, document in found.items() if document is None]:
            said = _("No page of yours has the address %(url)s: import the page first, or correct the address.")
            raise ValueError(said % {"url": missing[0]})
        faq.source_documents = list(found.values())

    def _mistakes(self, faq: Any) -> list[tuple[str, str]]:
        """(field, what to do) of what is wrong with the row as a whole."""
        found: list[tuple[str, str]] = []
        if not faq.question:
            found.append(("question", _("Write the question.")))
        if not TAG.fullmatch(faq.language):
            found.append(("language", _("Write a language such as en or de.")))
        if faq.valid_from and faq.valid_until and faq.valid_from > faq.valid_until:
            found.append(("valid_until", _("“Valid until” lies before “valid from”.")))
        if faq.status not in BEFORE_PUBLISHING and not self.may_publish:
            found.append(("status", _("You may write draft or in_review; publishing is for those who may publish.")))
        if faq.status == Status.PUBLISHED and not faq.source_documents:
            said = _("A published FAQ needs at least one page: write its address, or write draft as the status.")
            found.append(("sources", said))
        if self.needs_collection and faq.collection is None:
            found.append(("collection", _("Write the collection whose team looks after it.")))
        if self.known.is_taken(faq):
            found.append(("id", _("Another FAQ has this id.")))
        return found

    # --- what a file is written from ---

    def iter_queryset(self, queryset: Any) -> Any:
        return queryset.with_parts().iterator(chunk_size=500)

    def dehydrate_phrasings(self, faq: FAQ) -> list[str]:
        return [phrasing.text for phrasing in faq.phrasings.all()]

    def dehydrate_sources(self, faq: FAQ) -> list[str]:
        return [source.document.url for source in faq.sources.all()]

    def dehydrate_category(self, faq: FAQ) -> str:
        return faq.category.name if faq.category else ""

    def dehydrate_collection(self, faq: FAQ) -> str:
        return faq.collection.slug if faq.collection else ""

    def dehydrate_translation_of(self, faq: FAQ) -> str:
        return str(faq.translation_of_id or "")


#: By the name that a complaint comes with: the column that it is about.
COLUMNS = {field.attribute: name for name, field in FAQResource.fields.items()}
