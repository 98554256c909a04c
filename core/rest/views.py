"""Base views of the staff API: permissions, visible rows, order, and the audit log."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins
from rest_framework.exceptions import ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from core.rest.pagination import PARAMETERS, KeysetPagination
from core.rest.permissions import MayDoThis
from core.rest.serializers import Versioned


class StaffViewSet(GenericViewSet):
    # No docstring: the API's document would show it. `needs` says for each action which permissions it takes;
    # `queryset` is narrowed to the rows that the member of staff works on, so that another team's row is not found.

    permission_classes = (MayDoThis,)
    pagination_class = KeysetPagination
    filter_backends = (DjangoFilterBackend,)
    needs: Mapping[str, Sequence[str]] = {}
    orderings: Mapping[str, Sequence[str]] = {"id": ()}
    default_ordering = "id"
    lookup_value_regex = "[0-9]{1,18}"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count a request before it is refused, which REST framework does the other way round."""
        self.format_kwarg = None
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)
        try:
            self.perform_authentication(request)
        finally:
            self.check_throttles(request)
        self.check_permissions(request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    # --- which rows ---

    def own(self) -> "QuerySet[Any]":
        rows: Any = self.queryset
        own: QuerySet[Any] = rows.none() if hasattr(self, "swagger_fake_view") else rows.visible_to(self.request.user)
        return own

    def get_queryset(self) -> "QuerySet[Any]":
        """Return the rows of `own` with what is shown of them."""
        return self.own()

    def get_object(self) -> Any:
        return get_object_or_404(self.get_queryset(), pk=self.kwargs["pk"])

    def locked(self) -> Any:
        """Return the row, locked until the transaction ends."""
        get_object_or_404(self.own().order_by().select_for_update(of=("self",), no_key=True), pk=self.kwargs["pk"])
        return self.get_object()

    def filter_queryset(self, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """Refuse an unknown or empty filter: without it there would be other rows than were asked for."""
        filters = getattr(self, "filterset_class", None)
        known = {*PARAMETERS, *(filters.base_filters if filters else ())}
        for name, value in self.request.query_params.items():
            if name not in known:
                said = _("There is no such filter here: %(known)s.") % {"known": ", ".join(sorted(known))}
                raise ValidationError({name: said})
            if not value and name not in PARAMETERS:
                raise ValidationError({name: _("Give a value, or leave this out.")})
        filtered: QuerySet[Any] = super().filter_queryset(queryset)
        return filtered

    # --- replies ---

    def paginated(self, rows: "QuerySet[Any]") -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def as_it_is_now(self, status: int = 200) -> Response:
        return Response(self.get_serializer(self.get_object()).data, status=status)

    # --- the audit log ---

    def log_added(self, row: Model) -> None:
        self._log(row, ADDITION, [{"added": {}}])

    def log_changed(self, row: Model, fields: Iterable[str]) -> None:
        self._log(row, CHANGE, [{"changed": {"fields": list(fields)}}])

    def log_deleted(self, row: Model) -> None:
        self._log(row, DELETION, [{"deleted": {}}])

    def _log(self, row: Model, flag: int, message: list[Any]) -> None:
        LogEntry.objects.log_actions(self.request.user.pk, [row], flag, message, single_object=True)


class WrittenViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    StaffViewSet,
):
    # No docstring: the API's document would show it with each operation. `serializer_class` reads and adds;
    # `locked` and `perform_destroy` are where a row's own rules go.
    change_class: ClassVar[type[Versioned]]

    @transaction.atomic
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = serializer.save()
        self.log_added(row)
        self.kwargs["pk"] = row.pk
        return self.as_it_is_now(201)

    @transaction.atomic
    def update(self, request: Request, *args: Any, partial: bool = False, **kwargs: Any) -> Response:
        row = self.locked()
        change = self.change_class(row, data=request.data, partial=partial, context=self.get_serializer_context())
        change.is_valid(raise_exception=True)
        if changed := change.differing(row, change.validated_data):
            self.log_changed(change.save(), changed)
        return self.as_it_is_now()

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.update(request, *args, partial=True, **kwargs)

    @transaction.atomic
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.locked()
        self.log_deleted(row)
        self.perform_destroy(row)
        return Response(status=204)
