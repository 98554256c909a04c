"""FAQs: read, written as in the admin, published and retired."""

from typing import Any

import django_filters
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.rest.filters import ValidityFilter, WordsFilter, before, since
from core.rest.views import WrittenViewSet
from faqs.models import FAQ, FAQQuerySet, FAQSource, FAQVersion
from faqs.permissions import may_make
from faqs.rest.serializers import FAQChange, FAQShown, FAQVersionGiven
from faqs.services import set_faq_status

Status = FAQ.Status


class FAQFilters(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug", help_text="Its short name.")
    category = django_filters.CharFilter(field_name="category__name")
    document = django_filters.NumberFilter(
        method="with_document", min_value=1, max_value=2**63 - 1, help_text="Those that this document answers."
    )
    language = django_filters.CharFilter()
    status = django_filters.ChoiceFilter(choices=Status.choices)
    external_id = django_filters.CharFilter()
    valid = ValidityFilter()
    updated_since = since("updated_at")
    updated_before = before("updated_at")
    search = WordsFilter()

    def with_document(self, rows: "QuerySet[FAQ]", name: str, value: Any) -> "QuerySet[FAQ]":
        return rows.filter(pk__in=FAQSource.objects.order_by().filter(document=int(value)).values("faq"))


def status_action(name: str, summary: str) -> Any:
    """Decorate an operation that gives an FAQ another status."""

    def decorate(method: Any) -> Any:
        posted = action(detail=True, methods=["post"], url_path=name, filterset_class=None)(method)
        return extend_schema(summary=summary, request=FAQVersionGiven, responses=FAQShown)(posted)

    return decorate


@extend_schema_view(
    list=extend_schema(summary="FAQs"),
    retrieve=extend_schema(summary="An FAQ"),
    create=extend_schema(summary="Add an FAQ", description="As a draft."),
    update=extend_schema(request=FAQChange, responses=FAQShown, summary="Change an FAQ"),
    partial_update=extend_schema(request=FAQChange, responses=FAQShown, summary="Change some fields of an FAQ"),
    destroy=extend_schema(summary="Delete an FAQ", description="For good. To take it out of answers, retire it."),
)
class FAQViewSet(WrittenViewSet):
    queryset = FAQ.objects.of_university()
    serializer_class = FAQShown
    change_class = FAQChange
    #: Whether the request's change of an answer gave it a new date, which its reply says.
    is_redated = False
    filterset_class = FAQFilters
    orderings = {"updated_at": ("updated_at",), "id": ()}
    default_ordering = "-updated_at"
    needs = {
        "list": ["faqs.view_faq"],
        "retrieve": ["faqs.view_faq"],
        "create": ["faqs.add_faq"],
        "update": ["faqs.change_faq"],
        "partial_update": ["faqs.change_faq"],
        "destroy": ["faqs.delete_faq"],
        "publish": ["faqs.change_faq", "faqs.publish_faq"],
        "retire": ["faqs.change_faq", "faqs.publish_faq"],
        "review": ["faqs.change_faq"],
        "draft": ["faqs.change_faq"],
    }

    def get_queryset(self) -> "QuerySet[FAQ]":
        faqs: FAQQuerySet = self.own()  # type: ignore[assignment]
        return faqs.with_parts()

    def locked(self) -> FAQ:
        """Lock the FAQ. Raise PermissionDenied: only those who may publish change what students get."""
        faq: FAQ = super().locked()
        if not may_make(self.request.user, faq.status):
            raise PermissionDenied
        return faq

    @status_action("publish", "Publish an FAQ")
    def publish(self, request: Request, pk: str) -> Response:
        """Publish the FAQ: it influences answers within seconds."""
        return self._set_status(request, Status.PUBLISHED)

    @status_action("retire", "Retire an FAQ")
    def retire(self, request: Request, pk: str) -> Response:
        """Retire the FAQ: it influences no answer any more."""
        return self._set_status(request, Status.RETIRED)

    @status_action("review", "Send an FAQ to who may publish it")
    def review(self, request: Request, pk: str) -> Response:
        return self._set_status(request, Status.IN_REVIEW)

    @status_action("draft", "Make an FAQ a draft again")
    def draft(self, request: Request, pk: str) -> Response:
        return self._set_status(request, Status.DRAFT)

    @transaction.atomic
    def _set_status(self, request: Request, status: str) -> Response:
        faq = self.locked()
        given = FAQVersionGiven(faq, data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        if set_faq_status(faqs=[faq], status=status, by=request.user, reason=FAQVersion.Reason.API):
            self.log_changed(faq, ["status"])
        return self.as_it_is_now()
