"""The committed schema and types are those of the models, and the models those of the database."""

import json

import jsonschema
import pytest

from chat.models import Feedback, Message
from chat.protocol import schema
from chat.protocol.event import Event
from tests.chat.protocol.test_wire import RECORDED


def words(shape: str, name: str) -> set[str]:
    return set(schema.definitions()[shape]["properties"][name]["enum"])


def test_the_committed_files_are_what_the_models_say() -> None:
    advice = "run `manage.py widget_protocol`, then build the widget"
    assert schema.SCHEMA_FILE.read_text("utf-8") == schema.json_schema(), advice
    assert schema.TYPES_FILE.read_text("utf-8") == schema.typescript(), advice


@pytest.mark.parametrize(("event", "recorded"), RECORDED, ids=lambda value: getattr(value, "type", ""))
def test_what_is_recorded_has_the_shape_of_the_schema(event: Event, recorded: str) -> None:
    frame = {**json.loads(recorded), "seq": 1, "conversation": "c", "message": 2}
    document = {"$defs": schema.definitions(), "$ref": "#/$defs/ServerEvent"}
    jsonschema.Draft202012Validator(document).validate(frame)


def test_the_protocol_knows_every_value_that_is_stored() -> None:
    assert words("Message", "status") == set(Message.Status.values)
    assert words("MessageEnd", "status") == set(Message.Status.values) - {"generating"}
    assert words("Message", "strategy") == words("MessageEnd", "strategy") == {"", *Message.Strategy.values}
    assert words("HelpCard", "kind") == set(Message.HELP_ROUTES)
    assert set(schema.definitions()["Reason"]["enum"]) == set(Feedback.Reason.values)
