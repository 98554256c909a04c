"""Rows that programs add, change from the version that they read, and delete, each time put on record."""

from typing import Any, ClassVar

from django.db import transaction
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.rest.changes import Versioned
from knowledge.rest.views import StaffViewSet


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
