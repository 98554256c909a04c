"""The page on which a file of courses is checked, previewed and imported."""

import re
import uuid
from pathlib import Path
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from knowledge.admin.collections import only_collection, university_collections
from knowledge.courses.reader import BadFile, CourseFile, read_course_file
from knowledge.courses.sync import plan_courses
from knowledge.models import Collection
from knowledge.services.courses import PlanChanged, fingerprint_courses, import_course_records

#: How long a checked file is kept until somebody confirms its import.
KEPT_SECONDS = 3600
FILE_KEY = re.compile("[0-9a-f]{32}")
#: Bytes of a file at most: it is kept in memory until it is confirmed.
MOST_BYTES = 10 * 1024 * 1024
#: Rows of each kind that the page shows.
SHOWN = 100


class CourseFileForm(forms.Form):
    collection = forms.ModelChoiceField(label=_("Collection"), queryset=Collection.objects.none())
    file = forms.FileField(
        label=_("File"), widget=forms.ClearableFileInput(attrs={"accept": ".csv,.json"}), allow_empty_file=True
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = university_collections().visible_to(user)
        cast("forms.ModelChoiceField[Collection]", self.fields["collection"]).queryset = own
        if only := only_collection(own):
            self.initial["collection"] = only

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            most = {"size": MOST_BYTES // 1024 // 1024}
            raise forms.ValidationError(gettext("The file is larger than %(size)s MB: split it.") % most)
        return file


@require_http_methods(["GET", "HEAD", "POST"])
def course_import_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    """Preview what a file would change; `confirmed` imports it if the changes would still be the same."""
    if not (model_admin.has_add_permission(request) and model_admin.has_change_permission(request)):
        raise PermissionDenied
    form = CourseFileForm(user=request.user)
    context: dict[str, Any] = {}
    if "confirmed" in request.POST:
        return _confirmed(request, model_admin)
    if request.method == "POST":
        form = CourseFileForm(request.POST, request.FILES, user=request.user)
        if form.is_valid():
            file, collection = form.cleaned_data["file"], form.cleaned_data["collection"]
            context = _preview(request, file.name, file.read(), collection)
    return _page(request, model_admin, {"form": form, **context})


def _preview(request: HttpRequest, name: str, content: bytes, collection: Collection) -> dict[str, Any]:
    try:
        read = read_course_file(Path(name).suffix, content)
    except BadFile as error:
        return {"problem": gettext("%(file)s: %(problem)s.") % {"file": name, "problem": error}}
    if read.problems:
        problems = read.problems
        return {"file_name": name, "wrong": problems[:SHOWN], "more_wrong": max(0, len(problems) - SHOWN)}
    plan = plan_courses(read.records, collection=collection)
    key = uuid.uuid4().hex
    cache.set(_key(request, key), (name, content, collection.pk), KEPT_SECONDS)
    kinds = {kind: [each.course for each in plan if each.kind == kind] for kind in ("new", "changed", "unchanged")}
    return {
        "file_name": name,
        "file_key": key,
        "chosen": collection,
        "fingerprint": fingerprint_courses(plan),
        "unread": ", ".join(read.unknown),
        "counts": {kind: len(courses) for kind, courses in kinds.items()},
        "writes": len(kinds["new"]) + len(kinds["changed"]),
        "new": kinds["new"][:SHOWN],
        "changed": kinds["changed"][:SHOWN],
        "more": {kind: max(0, len(kinds[kind]) - SHOWN) for kind in ("new", "changed")},
    }


def _confirmed(request: HttpRequest, model_admin: Any) -> HttpResponse:
    key = request.POST.get("file_key", "")
    kept = cache.get(_key(request, key)) if FILE_KEY.fullmatch(key) else None
    name, content, collection_id = kept or ("", b"", 0)
    collection = university_collections().visible_to(request.user).filter(pk=collection_id).first()
    if collection is None:
        messages.error(request, gettext("The file is no longer kept: choose it once more."))
        return redirect("admin:knowledge_course_import")
    read: CourseFile = read_course_file(Path(name).suffix, content)
    expected = request.POST.get("fingerprint", "")
    try:
        with transaction.atomic():
            plan = import_course_records(records=read.records, collection=collection, expected=expected)
            new, changed = ([each.course for each in plan if each.kind == kind] for kind in ("new", "changed"))
            user = cast("int", request.user.pk)
            LogEntry.objects.log_actions(user, new, ADDITION, [{"added": {}}])
            fields: Any = [{"changed": {"fields": [gettext("imported from a file")]}}]
            LogEntry.objects.log_actions(user, changed, CHANGE, fields)
    except PlanChanged:
        messages.warning(request, gettext("Something changed since the file was checked: please look once more."))
        context = _preview(request, name, content, collection)
        return _page(request, model_admin, {"form": CourseFileForm(user=request.user), **context})
    cache.delete(_key(request, key))
    said = [
        ngettext("%d course is new.", "%d courses are new.", len(new)) % len(new),
        ngettext("%d course was changed.", "%d courses were changed.", len(changed)) % len(changed),
    ]
    messages.success(request, " ".join(said))
    return redirect("admin:knowledge_course_changelist")


def _page(request: HttpRequest, model_admin: Any, context: dict[str, Any]) -> HttpResponse:
    page = {
        **model_admin.admin_site.each_context(request),
        "title": _("Import courses"),
        "opts": model_admin.opts,
        "media": model_admin.media,
        **context,
    }
    return TemplateResponse(request, "admin/knowledge/course/import.html", page)


def _key(request: HttpRequest, key: str) -> str:
    """Return the cache key of a file that one member of staff chose; nobody else's key finds it."""
    return f"course-import:{request.user.pk}:{key}"
