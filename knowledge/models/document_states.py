"""Former states of documents, by which a document that changed back counts as unchanged."""

from django.db import models
from django.db.models import F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce, Concat
from django.db.models.lookups import Exact


class FormerState(models.Model):
    """A document's text, by its hash, and status until `replaced_at`.

    Both are empty for the last change before these rows were kept: it is known when it was, not what was before.
    """

    document = models.ForeignKey("knowledge.Document", on_delete=models.CASCADE, related_name="former_states")
    content_hash = models.CharField(max_length=32)
    status = models.CharField(max_length=12)
    replaced_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["document", "replaced_at"]),
            models.Index(fields=["replaced_at"], name="former_state_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}: {self.replaced_at:%Y-%m-%d %H:%M}"


def changed_since(moment: str, document: str = "") -> Q:
    """Return the condition of rows whose document is no longer as it was at the time in the column `moment`.

    `document` leads from the row to the document, such as "document__"; empty for documents themselves. A text that
    was changed and restored is as it was.
    """
    states = FormerState.objects.filter(document=OuterRef(f"{document}pk"), replaced_at__gt=OuterRef(moment))
    then = states.order_by("replaced_at", "pk").values(state=_state())[:1]
    is_as_it_was = Exact(Coalesce(Subquery(then), Value("")), _state(document))
    return Q(**{f"{document}altered_at__gt": F(moment)}) & ~Q(is_as_it_was)


def _state(document: str = "") -> Concat:
    return Concat(f"{document}content_hash", Value(" "), f"{document}status", output_field=models.CharField())
