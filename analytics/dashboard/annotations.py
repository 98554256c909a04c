"""Marks of a period's time line: what may explain its figures, read from what is recorded already.

They are published pages and FAQs, visits to websites that changed something, changes of assistants by the audit log,
semesters, and the dates that staff wrote. One query reads them. By month pages, FAQs and visits are not marked, since
every month has some.
"""

import datetime
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import (
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Concat, TruncDate
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from analytics.counts.daily import find_day_bounds
from analytics.dashboard.formatting import whole
from analytics.dashboard.visibility import View
from analytics.models import TimelineDate
from analytics.periods import Step, semester_around, step_start
from chat.models import Assistant
from core.access import sees_everything
from faqs.models import FAQ, FAQVersion
from knowledge.models import CrawlRun, Document
from knowledge.models.document_states import FormerState
from knowledge.models.sources import SourcePage

PAGES, FAQS, VISITS, ASSISTANT, PROFILE, WRITTEN = "pages", "faqs", "visits", "assistant", "profile", "written"
NUMBERS = ("number", "more", "gone", "websites")
COLUMNS = ("kind", "on_day", "told", *NUMBERS)
#: Fields of an assistant that change its answers.
WATCHED: Mapping[str, str | Promise] = {
    "profile": gettext_lazy("another retrieval profile"),
    "prompt": gettext_lazy("other instructions"),
    "model": gettext_lazy("another language model"),
    "uses_model": gettext_lazy("language model switched on or off"),
    "recognises_kinds": gettext_lazy("recognition of greetings and the like switched on or off"),
    "evidence_needed": gettext_lazy("more or less evidence needed"),
    "collections": gettext_lazy("other collections"),
}

Annotations = Mapping[datetime.date, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Row:
    """What happened of one kind on one day.

    `number` counts it; of visits to websites `number`, `more` and `gone` are their new, changed and removed pages.
    `told` is a name, or an audit message.
    """

    kind: str
    on_day: datetime.date
    told: str
    number: int
    more: int
    gone: int
    websites: int


def annotations(view: View) -> Annotations:
    """Return what the reader may know of each step of a view, in words, by its first day: one query."""
    rows = [_Row(*row) for row in _select(view)]
    found: dict[datetime.date, list[str]] = defaultdict(list)
    for day in _semester_days(view):
        found[step_start(day, view.step)].append(_("Semester begins"))
    steps: dict[datetime.date, list[_Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.on_day, row.told)):
        steps[step_start(row.on_day, view.step)].append(row)
    for start, happened in steps.items():
        found[start] += dict.fromkeys(_texts(happened))
    return {start: texts for start, texts in found.items() if texts}


# --- in words ---


def _texts(rows: Sequence[_Row]) -> Iterator[str]:
    """Say what happened in one step; many of one kind are summed."""
    of_kind: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        of_kind[row.kind].append(row)
    yield from (row.told for row in of_kind[WRITTEN])
    if pages := sum(row.number for row in of_kind[PAGES]):
        yield ngettext("%(count)s page published", "%(count)s pages published", pages) % {"count": whole(pages)}
    if faqs := sum(row.number for row in of_kind[FAQS]):
        yield ngettext("%(count)s FAQ published", "%(count)s FAQs published", faqs) % {"count": whole(faqs)}
    if visits := of_kind[VISITS]:
        yield _visits_text(visits)
    for row in of_kind[ASSISTANT]:
        yield from _assistant_texts(*row.told.split("\n", 1))
    for row in of_kind[PROFILE]:
        yield _("Retrieval profile “%(name)s” changed") % {"name": row.told}


def _visits_text(visits: Sequence[_Row]) -> str:
    names = {row.told for row in visits}
    is_one = len(names) == 1 and all(row.websites == 1 for row in visits)
    counts = _("new: %(new)s, changed: %(changed)s, gone: %(gone)s") % {
        "new": whole(sum(row.number for row in visits)),
        "changed": whole(sum(row.more for row in visits)),
        "gone": whole(sum(row.gone for row in visits)),
    }
    said = _("“%(website)s” read: %(counts)s") if is_one else _("Websites read: %(counts)s")
    return said % {"website": visits[0].told, "counts": counts}


def _assistant_texts(name: str, message: str) -> Iterator[str]:
    try:
        parts = json.loads(message)
    except ValueError:
        return
    changed = [field for part in parts for field in part.get("changed", {}).get("fields", ())]
    said = {_watched_labels().get(str(field).lower()) for field in changed}
    for field, text in WATCHED.items():
        if field in said:
            yield f"{name}: {text}"


@cache
def _watched_labels() -> Mapping[str, str]:
    """Return the watched fields by what the audit log calls them: their name, or their title in some language."""
    labels = {name: name for name in WATCHED}
    fields = [each for each in (*Assistant._meta.fields, *Assistant._meta.many_to_many) if each.name in WATCHED]
    for language in (None, *dict(settings.LANGUAGES)):
        with override(language):
            labels |= {str(field.verbose_name).lower(): field.name for field in fields}
    return labels


def _semester_days(view: View) -> Iterator[datetime.date]:
    first = semester_around(view.period.first).first
    while first <= view.period.last:
        if first >= view.period.first:
            yield first
        first = semester_around(first + datetime.timedelta(days=200)).first


# --- what is recorded ---


def _select(view: View) -> QuerySet[Any, Any]:
    by, parts, by_month = view.by, [_written(view)], view.step == Step.MONTH
    if by.has_perm("knowledge.view_document") and not by_month:
        parts += [*_added_pages(view), _released_pages(view), _visits(view)]
    if by.has_perm("faqs.view_faq") and not by_month:
        parts.append(_published_faqs(view))
    if by.has_perm("chat.view_assistant"):
        parts.append(_changed_assistants(view))
    if by.has_perm("chat.view_retrievalprofile"):
        parts.append(_changed_profiles(view))
    first, *others = parts
    return first.union(*others, all=True)


def _rows(rows: QuerySet[Any], kind: str, day: Any, **columns: Any) -> QuerySet[Any, Any]:
    """Return the columns of `COLUMNS`, one row a day if one of them is an aggregate."""
    given: dict[str, Any] = {"told": Value("")} | dict.fromkeys(NUMBERS, Value(0)) | columns
    values = {name: Cast(given[name], IntegerField() if name in NUMBERS else TextField()) for name in given}
    of_day = rows.order_by().annotate(kind=Value(kind, output_field=CharField()), on_day=day).values("kind", "on_day")
    listed: QuerySet[Any, Any] = of_day.annotate(**values).values_list(*COLUMNS)
    return listed


def _within(view: View, moment: str) -> Q:
    begins, ends = find_day_bounds(view.period.first)[0], find_day_bounds(view.period.last)[1]
    return Q(**{f"{moment}__gte": begins, f"{moment}__lt": ends})


def _written(view: View) -> QuerySet[Any, Any]:
    """Return the dates of all assistants, and of those that the reader works on."""
    own = Assistant.objects.visible_to(view.by)
    if view.assistant is not None:
        own = own.filter(pk=view.assistant)
    dates = TimelineDate.objects.filter(day__gte=view.period.first, day__lte=view.period.last)
    return _rows(dates.filter(Q(assistant=None) | Q(assistant__in=own.values("pk"))), WRITTEN, F("day"), told=F("text"))


def _answered_from(view: View, collection: str) -> Q:
    """Return the condition of rows in a collection that the view's assistant answers from."""
    if view.assistant is None:
        return Q()
    own = Assistant.collections.through.objects.filter(assistant=view.assistant)
    return Q(**{f"{collection}__in": own.values("collection")}) | Q(~Exists(own))


def _pages(view: View) -> QuerySet[Document]:
    return Document.objects.visible_to(view.by).of_university().filter(_answered_from(view, "collection"))


def _added_pages(view: View) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    """Return pages that staff added and that were published at once: those that never changed, and the others.

    What a crawl adds, its visit tells. In two parts, each table is read once, and not once a page.
    """
    read = SourcePage.objects.filter(document=OuterRef("pk"))
    added = _pages(view).filter(~Exists(read), _within(view, "created_at"))
    states = FormerState.objects.filter(document=OuterRef("pk"))
    unchanged = added.filter(~Exists(states), status=Document.Status.PUBLISHED)
    earlier = FormerState.objects.filter(document=OuterRef("pk")).filter(
        Q(replaced_at__lt=OuterRef("former_states__replaced_at"))
        | Q(replaced_at=OuterRef("former_states__replaced_at"), pk__lt=OuterRef("former_states__pk"))
    )
    changed = added.filter(~Exists(earlier), former_states__status=Document.Status.PUBLISHED)
    return (
        _rows(unchanged, PAGES, TruncDate("created_at"), number=Count("pk")),
        _rows(changed, PAGES, TruncDate("created_at"), number=Count("pk")),
    )


def _released_pages(view: View) -> QuerySet[Any, Any]:
    """Return pages that were published as they had been drafts, or archived."""
    unused = _pages(view).filter(
        _within(view, "former_states__replaced_at"),
        former_states__status__in=(Document.Status.DRAFT, Document.Status.ARCHIVED),
    )
    later = FormerState.objects.filter(document=OuterRef("pk"), replaced_at__gt=OuterRef("former_states__replaced_at"))
    after = Coalesce(Subquery(later.order_by("replaced_at", "pk").values("status")[:1]), F("status"))
    released = unused.annotate(after=after).filter(after=Document.Status.PUBLISHED)
    return _rows(released, PAGES, TruncDate("former_states__replaced_at"), number=Count("pk", distinct=True))


def _published_faqs(view: View) -> QuerySet[Any, Any]:
    earlier = FAQVersion.objects.filter(faq=OuterRef("faq"), pk__lt=OuterRef("pk")).order_by("-pk")
    before = Coalesce(Subquery(earlier.annotate(was=KT("content__status")).values("was")[:1]), Value("", TextField()))
    versions = FAQVersion.objects.filter(_within(view, "made_at"))
    if not sees_everything(view.by):
        versions = versions.filter(faq__in=FAQ.objects.visible_to(view.by).values("pk"))
    if view.assistant is not None:
        versions = versions.filter(Q(faq__collection=None) | _answered_from(view, "faq__collection"))
    versions = versions.exclude(reason=FAQVersion.Reason.FOUND)
    published = versions.filter(content__status=FAQ.Status.PUBLISHED).annotate(before=before)
    return _rows(
        published.exclude(before=FAQ.Status.PUBLISHED), FAQS, TruncDate("made_at"), number=Count("faq", distinct=True)
    )


def _visits(view: View) -> QuerySet[Any, Any]:
    """Return crawls that changed something."""
    ended = CrawlRun.objects.visible_to(view.by).filter(_within(view, "finished_at"), state=CrawlRun.State.FINISHED)
    changing = ended.filter(Q(new__gt=0) | Q(changed__gt=0) | Q(gone__gt=0)).filter(
        _answered_from(view, "source__collection"), source__collection__for_evaluation=False
    )
    return _rows(
        changing,
        VISITS,
        TruncDate("finished_at"),
        told=Min("source__name"),
        number=Sum("new"),
        more=Sum("changed"),
        gone=Sum("gone"),
        websites=Count("source", distinct=True),
    )


def _entries(view: View, model: str) -> QuerySet[LogEntry]:
    entries = LogEntry.objects.filter(_within(view, "action_time"), action_flag=CHANGE)
    return entries.filter(content_type__app_label="chat", content_type__model=model)


def _changed_assistants(view: View) -> QuerySet[Any, Any]:
    own = Assistant.objects.visible_to(view.by)
    if view.assistant is not None:
        own = own.filter(pk=view.assistant)
    entries = _entries(view, "assistant").filter(object_id__in=own.values(key=Cast("pk", TextField())))
    name = Subquery(own.annotate(key=Cast("pk", TextField())).filter(key=OuterRef("object_id")).values("name")[:1])
    told = Concat(name, Value("\n"), "change_message", output_field=TextField())
    return _rows(entries, ASSISTANT, TruncDate("action_time"), told=told)


def _changed_profiles(view: View) -> QuerySet[Any, Any]:
    entries = _entries(view, "retrievalprofile")
    if view.assistant is not None:
        used = Assistant.objects.filter(pk=view.assistant).values(key=Cast("profile", TextField()))
        entries = entries.filter(object_id__in=used)
    return _rows(entries, PROFILE, TruncDate("action_time"), told=F("object_repr"))
