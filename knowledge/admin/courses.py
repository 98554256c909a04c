"""Admin of courses; a course is rendered into its document."""

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminURLFieldWidget
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from core.admin.languages import LanguageFilter, LanguageSelect
from core.admin.scoped import ScopedAdmin
from core.admin.textarea import Textarea
from knowledge.admin.collections import CollectionFilter, PresetsCollection, university_collections
from knowledge.admin.course_import.from_document import documents_view, may_accept, proposals_view
from knowledge.admin.course_import.from_file import course_import_view
from knowledge.courses.codes import code_key, split_by_mention
from knowledge.models import Collection, Course, Document, FlaggedText
from knowledge.services.documents import delete_courses, save_course

if TYPE_CHECKING:
    from core.access import Staff

    CourseModelAdmin = admin.ModelAdmin[Course]
    CourseModelForm = forms.ModelForm[Course]
else:
    CourseModelAdmin = admin.ModelAdmin
    CourseModelForm = forms.ModelForm


#: Fields of a course's form that its document holds.
OF_DOCUMENT = ("url", "collection", "language", "status")


def named_and_others(course: Course) -> tuple[list[Course], list[Course]]:
    """Split the required courses into those that the prerequisites name and those that staff chose besides."""
    return split_by_mention(course.prerequisites, list(course.required_courses.all()) if course.pk else [])


class CourseForm(CourseModelForm):
    user: "Staff"  # who fills it in

    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=AdminURLFieldWidget,
        help_text=_("The web address that students open from the answer."),
    )
    collection = forms.ModelChoiceField(label=_("Collection"), queryset=Collection.objects.none())
    language = forms.CharField(
        label=_("Language"),
        max_length=12,
        initial="en",
        widget=LanguageSelect,
        help_text=_("The language of the text and its headings."),
    )
    status = forms.ChoiceField(label=_("Status"), choices=Document.Status, initial=Document.Status.PUBLISHED)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        collections = cast("forms.ModelChoiceField[Collection]", self.fields["collection"])
        collections.queryset = university_collections().visible_to(self.user)
        if self.instance.pk:
            self.initial.update({name: getattr(self.instance.document, name) for name in OF_DOCUMENT})
            self.initial["required_courses"] = named_and_others(self.instance)[1]

    def clean(self) -> dict[str, Any]:
        """Validate the course's document too, and report its errors at this form's fields."""
        values = super().clean() or self.cleaned_data
        if not all(values.get(name) for name in (*OF_DOCUMENT, "code", "name")):
            return values
        document = self.instance.document if self.instance.pk else Document()
        for name in OF_DOCUMENT:
            setattr(document, name, values[name])
        document.title = f"{values['code']} {values['name']}"
        try:
            document.full_clean(exclude=["text"])
        except ValidationError as error:
            for name, reasons in error.error_dict.items():
                self.add_error("url" if name == NON_FIELD_ERRORS else name, reasons)
        others = Course.objects.filter(document__collection=values["collection"]).exclude(pk=self.instance.pk)
        there = others.filter(document__language=values["language"]).values_list("code", flat=True)
        if code_key(values["code"]) in map(code_key, there):
            self.add_error("code", _("This collection already has a course with this code."))
        for course in values.get("required_courses", ()):
            if course.pk == self.instance.pk or course not in others:
                reason = _("“%(course)s” is not another course of this collection.") % {"course": course}
                self.add_error("required_courses", reason)
        self.document = document
        return values


@admin.register(Course)
class CourseAdmin(PresetsCollection, ScopedAdmin, CourseModelAdmin):
    form = CourseForm
    list_display = ["code", "name", "general_name", "year", "is_mandatory", "ects", "status", "collection"]
    list_display_links = ["code", "name"]
    list_filter = [
        ("document__collection", CollectionFilter),
        "year",
        "is_mandatory",
        "document__status",
        ("document__language", LanguageFilter),
    ]
    list_select_related = ["document__collection"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["code", "name", "general_name", "document__url"]
    search_help_text = _("Searches codes, names, integrated courses and addresses.")
    autocomplete_fields = ["required_courses"]
    readonly_fields = ["named", "source", "rendered"]
    fieldsets = [
        (None, {"fields": ["code", "name", "general_name", "url", "collection", "language", "status"]}),
        (_("Classification"), {"fields": ["year", "is_mandatory", "ects", "field"]}),
        (_("Prerequisites and assessment"), {"fields": ["prerequisites", "named", "required_courses", "assessment"]}),
        (_("Contents"), {"fields": ["contents", "objectives", "programme"], "description": _("Markdown.")}),
        (_("Preview of the document"), {"fields": ["rendered"], "classes": ["collapse"]}),
    ]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 6, "class": "vLargeTextField"})}}

    change_list_template = "admin/knowledge/course/change_list.html"

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        def view(function: Any) -> Any:
            return self.admin_site.admin_view(partial(function, model_admin=self))

        return [
            path("import/", view(course_import_view), name="knowledge_course_import"),
            path("documents/", view(documents_view), name="knowledge_course_documents"),
            path("documents/<int:document_id>/", view(proposals_view), name="knowledge_course_proposals"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_import = self.has_add_permission(request) and self.has_change_permission(request)
        may = {"may_import": may_import, "may_accept": may_accept(request)}
        return super().changelist_view(request, {**may, **(extra_context or {})})

    # --- what is shown ---

    @admin.display(description=_("status"), ordering="document__status")
    def status(self, course: Course) -> str:
        return course.document.get_status_display()

    @admin.display(description=_("collection"), ordering="document__collection__name")
    def collection(self, course: Course) -> str:
        return course.document.collection.name

    @admin.display(description=_("named in the prerequisites"))
    def named(self, course: Course) -> str:
        """List the courses linked by their codes; the field below is for those that the text does not name."""
        return "; ".join(map(str, named_and_others(course)[0])) or "–"

    @admin.display(description=_("read from"))
    def source(self, course: Course) -> str:
        return render_to_string("admin/knowledge/course/source.html", {"document": course.read_from})

    @admin.display(description=_("document"))
    def rendered(self, course: Course) -> str:
        return render_to_string("admin/knowledge/course/rendered.html", {"document": course.document})

    def get_fieldsets(self, request: HttpRequest, obj: Course | None = None) -> Any:
        """Leave out the document of a course that is not there yet, and “read from” unless it was read from one."""
        (label, first), *others = super().get_fieldsets(request, obj)
        fields = [*first["fields"], "source"] if obj and obj.read_from_id else first["fields"]
        return [(label, {**first, "fields": fields}), *(others if obj else others[:-1])]

    def view_on_site(self, course: Course) -> str | None:
        """Link to the page itself; only web addresses become links."""
        return course.document.url if course.document.url.startswith(("https://", "http://")) else None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Course], search_term: str
    ) -> tuple[QuerySet[Course], bool]:
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        return found.select_related("document"), may_repeat

    def get_form(self, request: HttpRequest, obj: Course | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"user": request.user})

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: Course, form: Any, change: bool) -> None:
        save_course(course=obj, document=form.document, required=form.cleaned_data["required_courses"])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: `save_course` has saved all links, and the form does not know them all."""

    def delete_model(self, request: HttpRequest, obj: Course) -> None:
        delete_courses(courses=[obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Course]) -> None:
        delete_courses(courses=queryset.select_related("document"))

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the courses, and count what is deleted with them: a course's document is deleted too."""
        documents = Document.objects.filter(course__in=list(objs))
        _listed, counts, lacking, protected = super().get_deleted_objects(cast("Any", documents), request)
        lacking -= {str(FlaggedText._meta.verbose_name)}  # they go with the document, though nobody deletes them alone
        return [str(course) for course in objs], counts, lacking, protected


def link_to(course: Course) -> str:
    return render_to_string("admin/knowledge/course/link.html", {"course": course})
