"""Services for topics: check, save."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.models import Gap, Topic, TopicCount, TopicQuestion
from analytics.topics.counting import count_topics
from analytics.topics.run import move_topic, name_again


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

    What was in it is remembered, so that it can be split off again; what was joined to it before stays of that topic.

    Raise ValidationError, OutOfDate.
    """
    if into.pk == topic.pk or into.assistant_id != topic.assistant_id or into.merged_into_id:
        raise ValidationError(_("Choose another topic of the same assistant."))
    row, other = _lock(topic, version), Topic.objects.select_for_update().get(pk=into.pk)
    TopicQuestion.objects.filter(topic=row, joined_from=None).update(joined_from=row)
    TopicCount.objects.filter(topic=row, joined_from=None).update(joined_from=row)
    move_topic(row, other)
    return other


@transaction.atomic
def split_topic(*, topic: Topic, version: int, joined: Topic) -> Topic:
    """Undo that staff joined a topic to this one: it gets its questions back, and its figures; return it.

    What was asked since stays here, and so do the figures of days that were frozen since. Raise ValidationError,
    OutOfDate.
    """
    row = _lock(topic, version)
    other = Topic.objects.select_for_update().get(pk=joined.pk)
    if other.merged_into_id != row.pk or not other.is_joined_by_staff:
        raise ValidationError(_("This topic is not joined to it any more."))
    TopicQuestion.objects.filter(topic=row, joined_from=other).update(topic=other, joined_from=None)
    TopicCount.objects.filter(topic=row, joined_from=other).update(topic=other, joined_from=None)
    other.merged_into, other.version = None, other.version + 1
    other.save(update_fields=["merged_into", "version"])
    row.save(update_fields=["version"])
    name_again(Topic.objects.filter(pk=other.pk))
    count_topics([row.pk, other.pk])
    other.refresh_from_db()
    return other
