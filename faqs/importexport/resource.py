"""What importing a file of FAQs would change: what each cell means. Writes nothing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from core.access import sees_everything
from core.hashing import fingerprint
from core.language import TAG, guess_language
from faqs.answers.changes import list_unsigned, redate, redated_message, unsigned_message
from faqs.answers.checks import list_warnings
from faqs.importexport.columns import COLUMNS, FAQColumns
from faqs.importexport.files import BadTable, Row, Table
from faqs.importexport.lookups import Lookups, Read, Scope, TranslationLookup
from faqs.models import ANSWER_LANGUAGES, FAQ, Category, main_language
from faqs.permissions import BEFORE_PUBLISHING, may_publish
from faqs.versions.snapshots import Content, content_with, fingerprint_content, read_answer, read_content
from knowledge.guardrails.injection import flag_document
from knowledge.models import Collection

if TYPE_CHECKING:
    from core.access import Staff

Status = FAQ.Status
#: What an import makes of an FAQ, unless it says something else.
PLANNED = (Status.DRAFT, Status.PUBLISHED)
#: (column, what to do).
Remark = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """The effect of importing a row: `kind` is new, changed, unchanged or wrong.

    A row with `problems` is left out; one with `notices` is imported, and staff should look at it. `name` is the id or
    the question that the file gives it.
    """

    line: int
    kind: str
    name: str
    faq: FAQ
    before: Content | None = None
    after: Content | None = None
    problems: tuple[Remark, ...] = ()
    notices: tuple[Remark, ...] = ()

    @property
    def rewords_answer(self) -> bool:
        """Return whether it is imported with an answer that the FAQ did not have."""
        before = read_answer(self.before or {})
        written = self.faq.written_answers.items() if self.kind in ("new", "changed") else ()
        return any(text != before[f"answer_{language}"] for language, text in written)


def fingerprint_plan(planned: list[PlannedRow]) -> str:
    """Return a hash that stays the same while importing the file would do the same."""
    parts: list[str] = []
    for each in planned:
        parts += [str(each.line), each.kind]
        parts += [fingerprint_content(content) for content in (each.before, each.after) if content]
    return fingerprint(*parts)


class FAQResource(FAQColumns):
    """Columns of a file, and its rows as FAQs that are not saved. Make one for each import.

    An FAQ is found by its number, else by its id, else by its question. A column that is not in the file changes
    nothing. An FAQ with a page that is not known is kept as a draft. With `publishes`, one with all its pages is
    published if the row names no status; one that is in review or retired stays so. A planned FAQ has, besides its
    fields, `phrasing_texts` and `source_documents`, which are not saved either. An `answer` without a language
    is in the FAQ's own.
    """

    def __init__(self, *, scope: Scope, may_publish: bool, may_add_categories: bool, publishes: bool = False) -> None:
        super().__init__()
        self.scope, self.may_publish, self.may_add_categories = scope, may_publish, may_add_categories
        self.publishes = publishes
        self.needs_collection = scope.user is not None and not sees_everything(scope.user)

    @classmethod
    def for_staff(cls, user: "Staff") -> Self:
        """Import what this member of staff may change, as drafts unless a row says otherwise."""
        may_add = user.has_perm("faqs.add_category")
        return cls(scope=Scope(user=user), may_publish=may_publish(user), may_add_categories=may_add)

    @classmethod
    def for_operator(cls, *, collection: Collection | None = None) -> Self:
        """Import and publish anything of the university, or the FAQs of a data set's collection."""
        return cls(scope=Scope(collection=collection), may_publish=True, may_add_categories=True, publishes=True)

    # --- what a file would change ---

    def plan(self, table: Table, *, lock: bool = False) -> list[PlannedRow]:
        """Plan the rows in the file's order. Raise BadTable.

        `lock` keeps the FAQs as they were planned until the transaction ends.
        """
        columns = self._columns()
        unknown = [column for column in table.columns if column not in columns]
        if unknown and not table.is_json:
            said = _("The column “%(column)s” is not known. There are: %(known)s.")
            raise BadTable(said % {"column": unknown[0], "known": ", ".join(columns)})
        if table.columns and "question" not in table.columns:
            raise BadTable(_("The column “question” is missing. The template has every column."))
        self.lookups = Lookups(table.rows, self.scope, lock=lock)
        self._lines: dict[tuple[int, str, str], int] = {}
        rows = [self._read(row) for row in table.rows]
        originals = TranslationLookup(rows, self.scope)
        return [self._plan_row(row, faq, problems, originals) for row, faq, problems in rows]

    def list_unread(self, table: Table) -> list[str]:
        """List the columns of a JSON file that mean nothing here: other programs write more than is read."""
        columns = self._columns()
        return [column for column in table.columns if column not in columns]

    def _columns(self) -> list[str]:
        return [field.column_name for field in self.get_import_fields()]

    def _read(self, row: Row) -> Read:
        self._line, self._faq = row.line, self.init_instance()
        self._before: Content | None = None
        self._notices: list[Remark] = []
        if row.problem and not row.cells:
            self._describe(row)
            return row, self._faq, [("", row.problem)]
        result = self.import_row(dict(row.cells), None, dry_run=True, using_transactions=False, row_number=row.line)
        if result.errors:
            raise result.errors[0].error
        problems: list[Remark] = [("", row.problem)] if row.problem else []
        if result.validation_error:
            problems += [
                (COLUMNS.get(name, name), " ".join(map(str, messages)))
                for name, messages in result.validation_error.message_dict.items()
            ]
        self._describe(row)
        return row, self._faq, problems

    def _describe(self, row: Row) -> None:
        faq: Any = self._faq
        faq.translation_name = row.cells.get("translation_of")
        faq.before, faq.notices = self._before, tuple(self._notices)

    def _plan_row(self, row: Row, faq: Any, problems: list[Remark], originals: TranslationLookup) -> PlannedRow:
        name = next((str(row.cells[column])[:60] for column in ("id", "question") if row.cells.get(column)), "")
        if not problems and (problem := originals.find_problem(faq)):
            problems = [("translation_of", problem)]
        if problems:
            return PlannedRow(row.line, "wrong", name, faq, problems=tuple(problems))
        originals.link(faq)
        after = content_with(faq, phrasings=faq.phrasing_texts, documents=faq.source_documents)
        kind = "new"
        if faq.before is not None:
            kind = "unchanged" if fingerprint_content(faq.before) == fingerprint_content(after) else "changed"
        return PlannedRow(row.line, kind, name, faq, faq.before, after, notices=faq.notices)

    # --- import-export's hooks, in the order in which it calls them ---

    def get_instance(self, instance_loader: Any, row: dict[str, Any]) -> FAQ | None:
        """Return the FAQ that the row is about. Raise ValidationError."""
        if lists := [
            name for name in ("number", "id", "question", "translation_of") if not isinstance(row.get(name, ""), str)
        ]:
            raise ValidationError({lists[0]: _("Write one text here, not a list.")})
        faq = self.lookups.find_faq(row)
        key = (faq.pk, "", "") if faq else (0, row.get("id") or "", "" if row.get("id") else row.get("question") or "")
        if key in self._lines:
            said = _("Line %(line)s is about the same FAQ already: delete one of the two.")
            raise ValidationError({"question": said % {"line": self._lines[key]}})
        if key != (0, "", ""):  # several rows may lack a question
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
        self._before = None if new else read_content(instance)
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
        wrong = {COLUMNS.get(each, each) for each in errors}
        for name, resolve in (("category", self._category), ("collection", self._collection)):
            if name in row and name not in wrong:
                try:
                    resolve(instance)
                except ValueError as error:
                    errors[name] = [ValidationError(str(error))]
        unknown = self._link_sources(instance) if "sources" in row and "sources" not in wrong else []
        if instance.collection is None and "sources" in row and "collection" not in row:
            instance.collection = self._default_collection(instance)
        if not instance.language:
            instance.language = self._before["language"] if self._before else guess_language(instance.question)
        before = read_answer(self._before or {})
        try:
            self._set_answer(instance, before)
        except ValidationError as error:
            errors = error.update_error_dict(errors)
        instance.phrasing_texts = [text for text in instance.phrasing_texts if text != instance.question]
        if unknown and row.get("status") and instance.status == Status.PUBLISHED:
            errors["sources"] = [ValidationError(message) for message in unknown]
        self._notices += [("sources", message) for message in unknown]
        # Compared with pages once it is saved: a search for each row of a long file would take minutes.
        if any(text != before[f"answer_{language}"] for language, text in instance.written_answers.items()):
            warnings = list_warnings(instance, with_pages=False)
            self._notices += [(f"answer_{warned.language}", warned.message) for warned in warnings]
        if not errors:
            self._decide_status(instance, is_named=bool(row.get("status")), is_complete=not unknown)
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
        """Write nothing: `faqs.services` saves the planned rows together."""

    # --- what a cell means ---

    def _decide_status(self, faq: Any, *, is_named: bool, is_complete: bool) -> None:
        """Keep an FAQ as a draft if pages are missing, and send to review what seems to speak to a program."""
        if not is_named and faq.status in {Status.DRAFT, Status.PUBLISHED}:
            has_answer = _has_answer(faq)
            if not has_answer or not is_complete:
                faq.status = Status.DRAFT
            elif self.publishes:
                faq.status = Status.PUBLISHED
            if not has_answer and is_complete:
                said = _("It has no answer and names no page, so it is kept as a draft.")
                self._notices.append(("sources", said))
        is_reworded = self._before is None or self._before["question"] != faq.question
        is_offered = self.scope.collection is None  # to students, in these words; those of a data set are not
        if is_offered and is_reworded and faq.status in PLANNED and flag_document(faq.question):
            faq.status = Status.IN_REVIEW
            said = _("The question seems to speak to a program: it goes to review. Publish it if it is harmless.")
            self._notices.append(("question", said))

    def _default_collection(self, faq: Any) -> Collection | None:
        """Return the data set's collection, or that of the first page."""
        if self.scope.collection:
            return self.scope.collection
        return faq.source_documents[0].collection if faq.source_documents else None

    def _category(self, faq: Any) -> None:
        faq.category = self.lookups.categories.get(faq.category_name) if faq.category_name else None
        if faq.category_name and faq.category is None:
            if not self.may_add_categories:
                raise ValueError(
                    _("There is no category “%(name)s”: choose one that is there.") % {"name": faq.category_name}
                )
            faq.category = self.lookups.categories[faq.category_name] = Category(name=faq.category_name)

    def _collection(self, faq: Any) -> None:
        faq.collection = self.lookups.collections.get(faq.collection_name) if faq.collection_name else None
        if faq.collection_name and faq.collection is None:
            names = ", ".join(sorted({collection.slug for collection in self.lookups.collections.values()}))
            said = _("“%(name)s” is none of your collections: write one of %(known)s.")
            raise ValueError(said % {"name": faq.collection_name, "known": names or "–"})

    def _set_answer(self, faq: Any, before: dict[str, str]) -> None:
        """Set the answers as the file gives them, and date them. Raise ValidationError for one that no office signs.

        The command only warns: with it an installation is filled before there is any office.
        """
        given, faq.answer_as_given = getattr(faq, "answer_as_given", None), None
        if isinstance(given, str) and given.strip():
            language = main_language(faq.language)
            given = {language if language in ANSWER_LANGUAGES else ANSWER_LANGUAGES[-1]: given.strip()}
        for language, text in (given or {}).items():
            setattr(faq, f"answer_{language}", text)
        if redate(faq, before):
            self._notices.append(("answer_checked_on", redated_message()))
        unsigned = list_unsigned(faq, before)
        if unsigned and self.scope.user is None:
            said = _("No office signs the answer: students read that the university gives it. Name the office.")
            self._notices += [(f"office_{language}", said) for language in unsigned]
        elif unsigned:
            raise ValidationError({f"office_{language}": unsigned_message() for language in unsigned})

    def _link_sources(self, faq: Any) -> list[str]:
        """Link the pages that are known; return what to do about the other addresses."""
        linked = {document.url: document for document in faq.source_documents}
        found = {url: self.lookups.find_document(url, faq.collection_id) or linked.get(url) for url in faq.source_urls}
        faq.source_documents = [document for document in found.values() if document]
        said = _("There is no page with the address %(url)s: import the page first, or correct the address.")
        return [said % {"url": url} for url, document in found.items() if document is None]

    def _mistakes(self, faq: Any) -> list[Remark]:
        """List what is wrong with the row as a whole."""
        found: list[Remark] = []
        if not faq.question:
            found.append(("question", _("Write the question.")))
        if not TAG.fullmatch(faq.language):
            found.append(("language", _("Write a language such as en or de.")))
        if faq.valid_from and faq.valid_until and faq.valid_from > faq.valid_until:
            found.append(("valid_until", _("“Valid until” lies before “valid from”.")))
        if faq.status not in BEFORE_PUBLISHING and not self.may_publish:
            found.append(("status", _("You may write draft or in_review; publishing is for those who may publish.")))
        if faq.answer_checked_on and faq.answer_checked_on > timezone.localdate():
            found.append(("answer_checked_on", _("This day is still to come: write the day of the check.")))
        if faq.status == Status.PUBLISHED and not _has_answer(faq):
            said = _("A published FAQ needs an answer or a page: write one of them, or write draft as the status.")
            found.append(("sources", said))
        if self.needs_collection and faq.collection is None:
            found.append(("collection", _("Write the collection whose team is responsible.")))
        if self.lookups.is_taken(faq):
            found.append(("id", _("Another FAQ has this id.")))
        return found


def _has_answer(faq: Any) -> bool:
    """Return whether a planned FAQ has an answer of staff's own, or a page that is no draft."""
    return bool(faq.written_answers) or any(not document.is_draft for document in faq.source_documents)
