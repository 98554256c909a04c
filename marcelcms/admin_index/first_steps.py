"""The first steps of an empty installation: what an administrator sets up before students can ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db.models import Exists
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.models import Assistant, Site
from knowledge.models import Collection, Document, Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Who may do all of them.
NEEDED = ("knowledge.add_collection", "chat.add_assistant", "chat.add_site", "knowledge.add_source", "auth.add_user")


@dataclass(frozen=True, slots=True)
class FirstStep:
    """One step; `is_next` is the first one that is not done."""

    title: str
    text: str
    url: str
    is_done: bool
    is_next: bool = False


def first_steps(user: "User") -> Sequence[FirstStep]:
    """Return all steps, for who may do them, until the last one is done; one query."""
    if not user.has_perms(NEEDED):
        return ()
    users = get_user_model().objects
    colleagues = users.filter(is_active=True, is_staff=True).exclude(pk=user.pk)
    row = users.filter(pk=user.pk).values_list(
        *(Exists(rows) for rows in (Collection.objects.all(), Assistant.objects.all(), Site.objects.all())),
        *(Exists(rows) for rows in (Source.objects.all(), Document.objects.all(), colleagues)),
    )
    collection, assistant, site, source, document, colleague = row.get()
    done = (collection, assistant, site, source or document, colleague)
    if all(done):
        return ()
    after = done.index(False)
    return [
        FirstStep(title, text, reverse(name), is_done, place == after)
        for place, ((title, text, name), is_done) in enumerate(zip(_steps(), done, strict=True))
    ]


def _steps() -> Sequence[tuple[str, str, str]]:
    return (
        (
            _("A collection for your university’s pages"),
            _("All pages, PDFs and FAQs that belong together, such as those of a faculty."),
            "admin:knowledge_collection_add",
        ),
        (
            _("An assistant"),
            _("Its name, your university, how it greets students, and which collections it answers from."),
            "admin:chat_assistant_add",
        ),
        (
            _("A website"),
            _("The address at which students meet the assistant; you get a line of HTML for it."),
            "admin:chat_site_add",
        ),
        (
            _("Pages"),
            _("A website, which is read by itself, or a document that you write or upload."),
            "admin:knowledge_document_changelist",
        ),
        (
            _("A colleague"),
            _("By a link they choose their password."),
            "invite",
        ),
    )
