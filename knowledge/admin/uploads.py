"""Admin of uploaded files, several at once, with the result of each, and of pages in them that are pictures of text."""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from core.admin.scoped import ScopedAdmin
from knowledge.admin.collections import CollectionFilter, only_collection, university_collections
from knowledge.chunking.recognised import MORE_PAGES, has_recognised_line
from knowledge.ingest.formats.archive import check_beginning
from knowledge.ingest.formats.registry import FORMATS, find_format
from knowledge.ingest.formats.types import BadFile, Said
from knowledge.ingest.ocr.reader import is_installed
from knowledge.models import Collection, Document, Passage, PdfUpload, PicturePage
from knowledge.models.collections import CollectionQuerySet
from knowledge.services.documents import read_files_again, upload_files

if TYPE_CHECKING:
    PdfUploadModelAdmin = admin.ModelAdmin[PdfUpload]
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    PdfUploadModelAdmin, AnyModelAdmin = admin.ModelAdmin, object

logger = logging.getLogger(__name__)
MOST_FILES = 50
_NOT_STORED = _(
    "The server could not store the files: its disk may be full. None of them was kept. Tell whoever runs this server, "
    "then upload them again."
)
REFRESH_SECONDS = 3


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class DocumentFilesField(forms.FileField):
    """One or more files of a format that can be read, each within the limit of size."""

    widget = SeveralFiles(attrs={"accept": ",".join(FORMATS)})

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list) else [data] if data else []
        if not files:
            raise forms.ValidationError(self.error_messages["required"], code="required")
        if len(files) > MOST_FILES:
            raise forms.ValidationError(_("At most %(count)s files at once.") % {"count": MOST_FILES}, code="many")
        problems = []
        cleaned = []
        for file in files:
            try:
                cleaned.append(super().clean(file, initial))
                self._check(file)
            except forms.ValidationError as error:
                problems += [f"{file.name}: {reason}" for reason in error.messages]
        if problems:
            raise forms.ValidationError(problems)
        return cleaned

    @staticmethod
    def _check(file: "UploadedFile[bytes]") -> None:
        if (file.size or 0) > settings.PDF_MAX_MEGABYTES * 1_000_000:
            allowed = {"limit": settings.PDF_MAX_MEGABYTES}
            raise forms.ValidationError(_("it is larger than the limit of %(limit)s MB.") % allowed)
        head = file.read(1024)
        file.seek(0)
        try:
            kind = find_format(file.name or "")
        except BadFile as bad:
            raise forms.ValidationError(f"{say(bad.reason)}.") from bad
        if kind.mark in head:
            return
        try:
            check_beginning(cast("BinaryIO", file), kind.suffix)
        except BadFile as bad:
            raise forms.ValidationError(f"{say(bad.reason)}.") from bad
        finally:
            file.seek(0)
        wrong = _("its name ends in %(suffix)s, but it is no such file.")
        raise forms.ValidationError(wrong % {"suffix": kind.suffix})


class UploadForm(forms.Form):
    documents = DocumentFilesField(label=_("files"), help_text=_("Choose one or more."))
    collection = forms.ModelChoiceField(label=_("collection"), queryset=Collection.objects.none())

    def __init__(self, *args: Any, collections: CollectionQuerySet, **kwargs: Any) -> None:
        """Offer the `collections` that may be chosen; a single one is preselected."""
        super().__init__(*args, **kwargs)
        cast("forms.ModelChoiceField[Collection]", self.fields["collection"]).queryset = collections
        if only := only_collection(collections):
            self.initial["collection"] = only


def say(said: Said) -> str:
    """Return the sentence in the reader's language."""
    return gettext(said.template).format(**said.values)


class PictureFilter(admin.SimpleListFilter):
    title = _("pictures of text")
    parameter_name = "pictures"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("read", _("Read by OCR")), ("waiting", _("Not read yet")), ("left_out", _("Left out"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        states = {
            "read": [PicturePage.State.IN_TEXT],
            "waiting": [PicturePage.State.READ],
            "left_out": [PicturePage.State.LEFT_OUT],
        }
        # As `describe_pictures` shows them: without OCR nobody reads what waits.
        states["waiting" if is_installed() else "left_out"].append(PicturePage.State.WAITING)
        chosen = states.get(self.value() or "")
        pages = PicturePage.objects.filter(document=OuterRef("pk"), state__in=chosen or [])
        return queryset.filter(Exists(pages)) if chosen else queryset


def describe_pictures(document: Document) -> dict[str, Any]:
    """Describe which pages of its file are pictures of text, and what became of them."""
    groups: dict[tuple[PicturePage.State, str], list[int]] = {}
    rows = document.picture_pages.defer("lines").order_by("page") if document.file else ()
    for row in rows:
        state, reason = PicturePage.State(row.state), say(Said(**row.reason)) if row.reason else ""
        if state == PicturePage.State.WAITING and not is_installed():
            state, reason = PicturePage.State.LEFT_OUT, gettext("OCR is not installed here")
        groups.setdefault((state, reason), []).append(row.page)
    return {
        "pictures": [
            {"label": state.label, "reason": reason, "pages": ", ".join(map(str, pages)), "count": len(pages)}
            for (state, reason), pages in groups.items()
        ],
        "is_read_by_ocr": any(state == PicturePage.State.IN_TEXT for state, _reason in groups),
    }


def list_read_passages(document: Document, passages: Iterable[Passage]) -> set[int]:
    """List the passages (ids) of which OCR has read at least a part."""
    if not document.file:
        return set()
    read = dict(document.picture_pages.filter(state=PicturePage.State.IN_TEXT).values_list("page", "lines"))
    found = set()
    for passage in passages if read else ():
        first = passage.page or 0
        pages = (read.get(page, ()) for page in range(first, first + MORE_PAGES + 1))
        if has_recognised_line(passage.text, [line[0] for lines in pages for line in lines]):
            found.add(passage.pk)
    return found


class FilesReadAgain(AnyModelAdmin):
    """The action that reads documents' files again: for remarks, and a reader, that came after they were imported."""

    @admin.action(description=_("Read the files of the selected documents again"), permissions=["add"])
    def read_again(self, request: HttpRequest, queryset: QuerySet[Document]) -> HttpResponse | None:
        chosen = [document for document in queryset.select_related("collection") if document.file]
        if not chosen:
            self.message_user(request, _("None of these documents comes from a file."), messages.WARNING)
            return None
        count = read_files_again(documents=chosen)
        LogEntry.objects.log_actions(cast("int", request.user.pk), chosen, CHANGE, gettext("file read again"))
        message = ngettext(
            "%d file is being read again. This page shows its progress.",
            "%d files are being read again. This page shows their progress.",
            count,
        )
        self.message_user(request, message % count, messages.SUCCESS)
        return redirect("admin:knowledge_pdfupload_changelist")


@admin.register(PdfUpload)
class UploadAdmin(ScopedAdmin, PdfUploadModelAdmin):
    list_display = ["name", "state", "link", "collection", "created_at"]
    fields = ["name", "state", "link", "collection", "created_at"]
    list_display_links = None
    list_filter = ["status", ("collection", CollectionFilter)]
    list_select_related = ["collection", "document"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["name"]
    actions = None

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: PdfUpload | None = None) -> bool:
        return self.has_add_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.add_document")

    def has_change_permission(self, request: HttpRequest, obj: PdfUpload | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: PdfUpload | None = None) -> bool:
        return False

    # --- what is shown ---

    @admin.display(description=_("status"), ordering="status")
    def state(self, upload: PdfUpload) -> str:
        remarks = [say(Said(**said)) for said in upload.remarks]
        return render_to_string("admin/knowledge/pdfupload/state.html", {"upload": upload, "remarks": remarks})

    @admin.display(description=_("document"))
    def link(self, upload: PdfUpload) -> str:
        return render_to_string("admin/knowledge/pdfupload/link.html", {"document": upload.document})

    # --- what is done ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, which reloads itself while files are being read."""
        title = {"title": capfirst(self.opts.verbose_name_plural)}
        response = super().changelist_view(request, {**title, **(extra_context or {})})
        if PdfUpload.objects.visible_to(request.user).unfinished().exists():
            response.headers["Refresh"] = str(REFRESH_SECONDS)
        return response

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        own = university_collections().visible_to(request.user)
        form = UploadForm(request.POST or None, request.FILES or None, collections=own)
        if request.method == "POST" and form.is_valid():
            try:
                uploads = upload_files(files=form.cleaned_data["documents"], collection=form.cleaned_data["collection"])
            except OSError as error:
                logger.error("upload not stored reason=%s", error.strerror or type(error).__name__)
                form.add_error("documents", _NOT_STORED)
            else:
                message = ngettext(
                    "%d file was uploaded. This page shows its progress.",
                    "%d files were uploaded. This page shows their progress.",
                    len(uploads),
                )
                self.message_user(request, message % len(uploads), messages.SUCCESS)
                return redirect("admin:knowledge_pdfupload_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": _("Upload files"),
            "opts": self.opts,
            "form": form,
            "formats": ", ".join(FORMATS),
            "limit": settings.PDF_MAX_MEGABYTES,
            "most_pages": settings.PDF_MAX_PAGES,
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/knowledge/pdfupload/upload.html", context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PdfUpload]:
        return super().get_queryset(request).defer("document__text")
