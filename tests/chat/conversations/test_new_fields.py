"""A field that a model gets is no trouble for the statements that insert its rows."""

import importlib
import uuid
from collections.abc import Callable, Iterator

import pytest
from django.db import connection, models
from django.utils import timezone

from chat.conversations import closing, opening
from chat.conversations.closing import close_answer
from chat.conversations.opening import open_question
from chat.conversations.visitors import new_visitor
from chat.models import Citation, Conversation, Message
from chat.pipeline.reply import Reply
from chat.pipeline.retrieval.candidates import Source
from chat.protocol.answer_events import Cited
from tests.factories import AssistantFactory

pytestmark = pytest.mark.django_db

Grow = Callable[..., None]


@pytest.fixture
def grow() -> Iterator[Grow]:
    """Give a model and its table another field, as a migration does: without a default in the database."""
    added: list[tuple[type[models.Model], models.Field]] = []

    def add(model: type[models.Model], name: str, field: models.Field) -> None:
        field.contribute_to_class(model, name)
        added.append((model, field))
        with connection.schema_editor() as editor:
            editor.add_field(model, field)
        importlib.reload(opening)
        importlib.reload(closing)

    yield add
    for model, field in added:
        model._meta.local_fields.remove(field)
        model._meta._expire_cache()
        delattr(model, field.attname)
    importlib.reload(opening)
    importlib.reload(closing)


def ask() -> int:
    """Asks a question, and answers it with a source; the answer's id."""
    AssistantFactory()
    opened = open_question(
        visitor=new_visitor(), conversation=uuid.uuid4(), client_id=uuid.uuid4(), text="How much?", language="en"
    )
    source = Source(n=1, title="Fees", url="https://www.uni.example/fees", heading="", page=None, quote="318 euros")
    cited = Cited(source=source, passage_id=1, document_id=1)
    close_answer(reply_id=opened.reply.pk, reply=Reply(text="318 euros [1].", cited=[cited]), status="complete")
    assert Citation.objects.filter(message=opened.reply.pk).count() == 1
    return opened.reply.pk


@pytest.mark.parametrize("model", [Conversation, Message, Citation])
def test_a_field_with_a_default_has_it_in_new_rows(grow: Grow, model: type[models.Model]) -> None:
    grow(model, "weight", models.PositiveIntegerField(default=7))
    grow(model, "note", models.CharField(max_length=20, default="100 % 'new'"))
    ask()
    for row in model._default_manager.all():
        assert (row.weight, row.note) == (7, "100 % 'new'")


@pytest.mark.parametrize("model", [Conversation, Message, Citation])
def test_a_default_that_is_made_is_made_for_each_row(grow: Grow, model: type[models.Model]) -> None:
    grow(model, "key", models.UUIDField(default=uuid.uuid4, unique=True))
    grow(model, "seen_at", models.DateTimeField(default=timezone.now))
    ask()
    ask()
    assert len({row.key for row in model._default_manager.all()}) == model._default_manager.count() > 1


def test_what_the_database_fills_by_itself_is_left_to_it(grow: Grow) -> None:
    grow(Message, "weight", models.PositiveIntegerField(db_default=7))
    grow(Message, "remark", models.TextField(null=True))
    row = Message.objects.get(pk=ask())
    assert (row.weight, row.remark) == (7, None)


def test_a_field_that_nobody_fills_is_noticed_at_the_start_and_not_by_a_student(
    grow: Grow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TypeError, match=r"Message\.weight has no default"):
        grow(Message, "weight", models.PositiveIntegerField())
