"""What a frame is refused with."""

import uuid
from typing import Any

import pytest

from chat.errors import NotFound, Refused
from chat.websocket.frames import parse_frame

ID = str(uuid.uuid4())


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"type": "dance"}, "unknown_event"),
        ({"type": "ask", "conversation": ID, "client_id": ID}, "bad_question"),
        ({"type": "ask", "conversation": ID, "client_id": ID, "text": 5}, "bad_question"),
        ({"type": "ask", "text": ""}, "empty_question"),
        ({"type": "ask", "conversation": "x", "client_id": ID, "text": "Fees?"}, "bad_frame"),
        ({"type": "ask", "conversation": ID, "text": "Fees?"}, "bad_frame"),
        ({"type": "resume", "after": 1}, "bad_frame"),
        ({"type": "feedback", "value": True, "message": 1}, "bad_feedback"),
        ({"type": "feedback", "value": 1.0, "message": 1}, "bad_feedback"),
        ({"type": "feedback", "value": 1}, "bad_feedback"),
        ({"type": "feedback", "value": 1, "message": "1"}, "bad_feedback"),
        ({"type": "feedback", "value": 1, "message": 1, "reasons": ["boring"]}, "bad_feedback"),
        ({"type": "feedback", "value": 1, "message": 1, "reasons": "wrong"}, "bad_feedback"),
        ({"type": "feedback", "value": 1, "message": 1, "comment": 5}, "bad_feedback"),
        ({"type": "rating", "conversation": "x", "stars": 9}, "bad_frame"),
        ({"type": "rating", "conversation": ID, "stars": True}, "bad_rating"),
        ({"type": "language", "language": "fr"}, "bad_frame"),
    ],
)
def test_a_frame_that_is_wrong_is_refused_for_its_first_wrong_field(frame: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse_frame(frame)
    assert refusal.value.code == code


@pytest.mark.parametrize("message", [None, "1", True, 1.5, [1]])
def test_what_cannot_name_an_answer_is_not_found(message: object) -> None:
    with pytest.raises(NotFound):
        parse_frame({"type": "stop", "message": message})


def test_a_frame_may_hold_anything_in_place_of_what_is_not_asked_for() -> None:
    frame: Any = parse_frame(
        {"type": "ask", "text": " Fees?", "conversation": ID, "client_id": ID, "as_question": 1, "token": 5, "x": {}}
    )
    assert (frame.text, str(frame.client_id), frame.as_question) == ("Fees?", ID, False)
