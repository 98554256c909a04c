"""Decisions of staff about editions: which documents are editions of one matter, and which are not."""

from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core.db.locks import Lock, hold_until_commit
from knowledge.editions.grouping import drop_small_groups, place_document
from knowledge.editions.likeness import shared_title
from knowledge.models import Document, Edition, EditionGroup


@transaction.atomic
def join_editions(*, documents: Iterable[Document]) -> EditionGroup:
    """Make documents editions of one matter; raises ValidationError with what to do first.

    If one of them has editions already, these come along.
    """
    hold_until_commit(Lock.EDITIONS)
    chosen = list(documents)
    editions = _editions_of(chosen)
    groups = {edition.group_id for edition in editions if edition.group_id}
    together = list(Edition.objects.filter(group__in=groups).select_related("document"))
    members = {edition.pk: edition for edition in (*together, *editions)}
    if len(members) < 2:
        raise ValidationError(_("Choose at least two documents."))
    if len({edition.document.collection_id for edition in members.values()}) > 1:
        raise ValidationError(_("Editions must be in one collection: choose documents of one."))
    if without := [str(edition.document) for edition in editions if not edition.kind]:
        names = ", ".join(without[:3])
        raise ValidationError(
            _("No term or year was found for %(documents)s: write it in the document’s form first."),
            params={"documents": names},
        )
    kinds = {edition.kind == "regulations" for edition in members.values()}
    if len(kinds) > 1:
        raise ValidationError(_("Some of them go by examination regulations and some by terms: these are no editions."))
    group = EditionGroup.objects.filter(pk__in=groups).order_by("pk").first()
    if group is None:
        first = chosen[0]
        group = EditionGroup(collection_id=first.collection_id, title=shared_title(first.title))
    group.is_by_staff = True
    group.save()
    Edition.objects.filter(pk__in=members).update(group=group)
    Edition.objects.filter(pk__in=[document.pk for document in chosen]).update(is_by_staff=True)
    drop_small_groups()
    return group


@transaction.atomic
def part_editions(*, documents: Iterable[Document]) -> list[Document]:
    """Take documents out of their groups of editions for good; return those that were in one."""
    hold_until_commit(Lock.EDITIONS)
    editions = Edition.objects.filter(document__in=[document.pk for document in documents]).exclude(group=None)
    parted = [edition.document for edition in editions.select_related("document")]
    editions.update(group=None, is_by_staff=True)
    drop_small_groups()
    return parted


@transaction.atomic
def release_editions(*, documents: Iterable[Document]) -> list[Document]:
    """Find the editions of documents anew, as if staff had decided nothing; return those that staff had placed."""
    hold_until_commit(Lock.EDITIONS)
    chosen = Edition.objects.filter(document__in=[document.pk for document in documents], is_by_staff=True)
    placed = list(chosen.select_related("document"))
    Edition.objects.filter(pk__in=[edition.pk for edition in placed]).update(group=None, is_by_staff=False)
    drop_small_groups()
    for edition in placed:
        place_document(edition.document)
    return [edition.document for edition in placed]


def _editions_of(documents: Sequence[Document]) -> list[Edition]:
    """Return what was read of the documents' terms; those that nobody has read yet are read now."""
    found = Edition.objects.filter(document__in=[document.pk for document in documents])
    for document in {document.pk: document for document in documents}.values():
        if document.pk not in set(found.values_list("pk", flat=True)):
            place_document(document)
    return list(Edition.objects.filter(document__in=[each.pk for each in documents]).select_related("document"))
