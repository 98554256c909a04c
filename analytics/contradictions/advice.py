"""Advice on two texts that contradict each other: which one looks older, who last changed each, and when."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from core.access import name_of
from faqs.models import FAQ, FAQVersion
from knowledge.models import Document

#: A form's entry in the log is written so shortly after what it saved.
LOGGED = timedelta(minutes=1)
Reason = FAQVersion.Reason
#: Versions that say what the one before said.
SAME_TEXT = (Reason.CHECK, Reason.STATUS)
Owner = Document | FAQ


@dataclass(frozen=True, slots=True)
class Changed:
    """The last change of a text; `by` says who made it, or how. It is empty if nobody knows."""

    at: datetime
    by: str

    def __str__(self) -> str:
        day = date_format(localtime(self.at), "DATE_FORMAT")
        return f"{day} ({self.by})" if self.by else day


def read_changes(owners: Iterable[Owner]) -> dict[Owner, Changed]:
    """Return the last change of each page or FAQ, in two queries."""
    listed = set(owners)
    pages = {owner.pk: owner for owner in listed if isinstance(owner, Document)}
    faqs = {owner.pk: owner for owner in listed if isinstance(owner, FAQ)}
    return {**_of_pages(pages), **_of_faqs(faqs)}


def advise(one: Owner, other: Owner, changes: Mapping[Owner, Changed]) -> str:
    """Return one line on which of the two looks older, and so may be wrong."""
    if one == other:
        said = _("Both are answers of one FAQ, last changed on %(change)s: open it and let them say the same.")
        return said % {"change": changes[one]}
    older, newer = sorted((one, other), key=lambda owner: changes[owner].at)
    if localtime(changes[older].at).date() == localtime(changes[newer].at).date():
        said = _("Both were last changed on one day, “%(older)s” on %(change)s, “%(newer)s” on %(last)s: check both.")
    else:
        said = _(
            "“%(older)s” looks older, last changed on %(change)s: check it first. “%(newer)s” was last changed on "
            "%(last)s."
        )
    return said % {"older": older, "change": changes[older], "newer": newer, "last": changes[newer]}


def _of_pages(pages: Mapping[int, Document]) -> dict[Owner, Changed]:
    found: dict[Owner, Changed] = {
        page: Changed(page.altered_at or page.created_at, _("read from its website") if page.read_hash else "")
        for page in pages.values()
    }
    if not pages:
        return found
    logged = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Document),
        object_id__in=[str(pk) for pk in pages],
        action_time__gte=min(each.at for each in found.values()),
    )
    for entry in logged.select_related("user").order_by("-action_time"):
        page = pages[int(entry.object_id or 0)]
        if found[page].at <= entry.action_time <= found[page].at + LOGGED:
            found[page] = Changed(found[page].at, name_of(entry.user))
    return found


def _of_faqs(faqs: Mapping[int, FAQ]) -> dict[Owner, Changed]:
    found: dict[Owner, Changed] = {faq: Changed(faq.altered_at or faq.created_at, "") for faq in faqs.values()}
    versions = FAQVersion.objects.filter(faq__in=faqs).exclude(reason__in=SAME_TEXT).select_related("made_by")
    for each in versions.order_by("faq_id", "-pk").distinct("faq_id") if faqs else ():
        found[faqs[each.faq_id]] = Changed(each.made_at, name_of(each.made_by) if each.made_by else "")
    return found
