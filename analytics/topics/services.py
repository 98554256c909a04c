"""Services for topics: check, save."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.models import Gap, Topic
from analytics.topics.run import move_topic


class OutOfDate(ValidationError):
    """Somebody else changed the topic meanwhile."""

    def __init__(self) -> None:
        super().__init__(_("Somebody changed this topic meanwhile. Below is how it is now; nothing was saved."))


def _lock(topic: Topic, version: int) -> Topic:
    row = Topic.objects.select_for_update().get(pk=topic.pk)
    if row.version != version or row.merged_into_id:
        raise OutOfDate
    row.version += 1
    return row


@transaction.atomic
def rename_topic(*, topic: Topic, version: int, name: str) -> Topic:
    """Name a topic for good. Raise ValidationError, OutOfDate."""
    row = _lock(topic, version)
    row.name, row.named_by, row.named_after = " ".join(name.split()), Gap.NamedBy.STAFF, None
    if not row.name:
        raise ValidationError(_("Give it a name."))
    row.clean_fields(exclude=[field.name for field in row._meta.fields if field.name != "name"])
    row.save(update_fields=["name", "named_by", "named_after", "version"])
    return row


@transaction.atomic
def pin_topic(*, topic: Topic, version: int, is_pinned: bool) -> Topic:
    """Pin a topic, so that it is listed first and never joined to another one by itself. Raise OutOfDate."""
    row = _lock(topic, version)
    row.is_pinned = is_pinned
    row.save(update_fields=["is_pinned", "version"])
    return row


@transaction.atomic
def merge_topic(*, topic: Topic, version: int, into: Topic) -> Topic:
    """Join a topic to another one of its assistant, with its figures of all days; return the other one.

    Raise ValidationError, OutOfDate.
    """
    if into.pk == topic.pk or into.assistant_id != topic.assistant_id or into.merged_into_id:
        raise ValidationError(_("Choose another topic of the same assistant."))
    row, other = _lock(topic, version), Topic.objects.select_for_update().get(pk=into.pk)
    move_topic(row, other)
    return other
