"""Visitor A gets at nothing of visitor B through any door. A new operation or frame that is not covered fails here."""

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from chat.models import Case, CaseAddress, CaseMessage, Conversation, Feedback, Message
from chat.protocol import frames
from tests.chat.api_client import Asked, Client
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab

pytestmark = pytest.mark.usefixtures("pages")

SCHEMA = json.loads((Path(__file__).parents[2] / "chat" / "widget" / "protocol.schema.json").read_text("utf-8"))
CONSUMER = Path(__file__).parents[2] / "chat" / "websocket" / "consumer.py"
#: Operations that name nothing of anybody, or what is the caller's own by the token alone.
NOBODYS = {("GET", "/api/v1/assistant"), ("POST", "/api/v1/session")}
OWN_BY_TOKEN = {("GET", "/api/v1/conversations"), ("GET", "/api/v1/my-data"), ("DELETE", "/api/v1/my-data")}
#: A good body for every operation that names something.
NAMING: dict[tuple[str, str], Any] = {
    ("GET", "/api/v1/conversations/{conversation}"): None,
    ("PATCH", "/api/v1/conversations/{conversation}"): {"title": "Mine now"},
    ("DELETE", "/api/v1/conversations/{conversation}"): None,
    ("PUT", "/api/v1/conversations/{conversation}/rating"): {"stars": 1},
    ("POST", "/api/v1/conversations/{conversation}/ask"): {"client_id": str(uuid.uuid4()), "text": QUESTION},
    ("GET", "/api/v1/conversations/{conversation}/events"): None,
    ("GET", "/api/v1/conversations/{conversation}/file"): None,
    ("POST", "/api/v1/messages/{message}/stop"): None,
    ("GET", "/api/v1/messages/{message}/calendar?begin=2026-07-15"): None,
    ("POST", "/api/v1/messages/{message}/plain"): None,
    ("PUT", "/api/v1/messages/{message}/feedback"): {"value": -1, "reasons": ["wrong"], "comment": "x"},
    ("POST", "/api/v1/messages/{message}/contacts"): {"kind": "email"},
    ("GET", "/api/v1/conversations/{conversation}/handover"): None,
    ("POST", "/api/v1/conversations/{conversation}/cases"): {
        "client_id": str(uuid.uuid4()),
        "office": 1,
        "question": QUESTION,
    },
    ("POST", "/api/v1/conversations/{conversation}/wishes"): {"client_id": str(uuid.uuid4()), "answer": 1},
    ("POST", "/api/v1/cases/{case}/messages"): {"client_id": str(uuid.uuid4()), "text": "x"},
    ("PUT", "/api/v1/cases/{case}/helped"): {"helped": True},
    ("PUT", "/api/v1/cases/{case}/email"): {"email": "other@uni.example"},
    ("DELETE", "/api/v1/cases/{case}"): None,
}
#: Every frame, and the code of what is said about somebody else's; "" for a frame that names nothing.
FRAMES: dict[str, tuple[Callable[[Asked], dict[str, Any]], str]] = {
    "ask": (lambda b: {"conversation": b.conversation, "client_id": str(uuid.uuid4()), "text": QUESTION}, "not_found"),
    "resume": (lambda b: {"conversation": b.conversation, "after": None}, "empty"),
    "stop": (lambda b: {"message": b.message}, "not_found"),
    "feedback": (lambda b: {"message": b.message, "value": -1}, "not_found"),
    "rating": (lambda b: {"conversation": b.conversation, "stars": 1}, "not_found"),
    "contact": (lambda b: {"message": b.message, "kind": "email"}, "not_found"),
    "language": (lambda _b: {"language": "de"}, ""),
}


def state() -> list[Any]:
    """All that is stored of conversations."""
    return [
        list(Conversation.objects.order_by("pk").values()),
        list(Message.objects.order_by("pk").values("pk", "text", "status", "client_id", "contacts_used")),
        list(Feedback.objects.values()),
        list(Case.objects.values()),
        list(CaseMessage.objects.values()),
        list(CaseAddress.objects.values()),
    ]


def case_of(asked: Asked) -> int:
    """Leave a question with an office in that conversation, which has replied; return the case's id."""
    now = timezone.now()
    case = Case.objects.create(
        conversation_id=asked.conversation,
        question=QUESTION,
        language="en",
        reason=Case.Reason.PERSON,
        client_id=uuid.uuid4(),
        reply_due=now,
        first_reply_at=now,
    )
    return case.pk


def test_every_operation_and_every_frame_is_covered(server: Server) -> None:
    documented = set(Client(server).operations())
    assert documented == NOBODYS | OWN_BY_TOKEN | {(method, path.split("?")[0]) for method, path in NAMING}
    in_schema = {SCHEMA["$defs"][each["$ref"].split("/")[-1]]["properties"]["type"]["const"]
                 for each in SCHEMA["$defs"]["ClientFrame"]["oneOf"]}  # fmt: skip
    handled = re.findall(r"^            case (\w+)\(\):", CONSUMER.read_text("utf-8"), re.MULTILINE)
    assert set(handled) == {frame.__name__ for frame in frames.FRAMES.values()}
    assert in_schema == set(frames.FRAMES) == set(FRAMES)


@pytest.mark.slow
@pytest.mark.parametrize("is_running", [False, True])
def test_no_operation_touches_what_is_somebody_elses(server: Server, llm: FakeLLM, is_running: bool) -> None:
    if is_running:
        llm.says_words(
            "The semester contribution is 318.40 euros each semester [1]. It covers the semester ticket [1].",
            hold_before=12,
        )
    owner, other = Client.begin(server), Client.begin(server)
    with owner.stream_ask(QUESTION) as stream:
        stream.until("message_delta" if is_running else "message_end")
        theirs = Asked(stream.conversation, stream.seen)
        case = case_of(theirs)
        before = state()
        for (method, path), body in NAMING.items():
            address = path.format(conversation=theirs.conversation, message=theirs.message, case=case)
            reply = other.call(method, address, body)
            assert (reply.status, reply.json["code"]) == (404, "not_found"), (method, path)
            assert QUESTION not in reply.body.decode()
        assert other.get("/api/v1/my-data").json["conversations"] == []
        assert other.get("/api/v1/conversations").json == []
        assert other.delete("/api/v1/my-data").status == 204
        assert state() == before
        llm.release()
        stream.rest()
    assert owner.get(f"/api/v1/conversations/{theirs.conversation}").json["messages"][-1]["status"] == "complete"


@pytest.mark.parametrize("is_running", [False, True])
def test_no_frame_touches_what_is_somebody_elses(server: Server, llm: FakeLLM, is_running: bool) -> None:
    if is_running:
        llm.says_words(
            "The semester contribution is 318.40 euros each semester [1]. It covers the semester ticket [1].",
            hold_before=12,
        )
    owner = Client.begin(server)
    with owner.stream_ask(QUESTION) as stream, server.connect() as other:
        stream.until("message_delta" if is_running else "message_end")
        theirs = Asked(stream.conversation, stream.seen)
        other.resume()
        other.until("conversation")
        before = state()
        for kind, (make, code) in FRAMES.items():
            other.send({"type": kind, **make(theirs)})
            if code == "not_found":
                assert other.refused()["code"] == code, kind
            elif code == "empty":
                told = other.next()
                assert (told["messages"], told["title"], told["stars"], told["cases"]) == ([], "", None, [])
        assert other.quiet()
        assert state() == before
        llm.release()
        stream.rest()
        assert other.quiet()
    assert state()[1][-1]["status"] == "complete"


def test_a_session_of_somebody_else_is_not_renewed_by_a_forged_token(server: Server) -> None:
    owner, other = Client.begin(server), Client.begin(server)
    owner.ask(QUESTION)
    forged = owner.token.split(":")[0] + ":" + ":".join(other.token.split(":")[1:])
    renewed = Client.begin(server, token=forged)
    assert renewed.get("/api/v1/conversations").json == []
    assert Client(server, forged).get("/api/v1/conversations").status == 401


def test_a_tab_that_changes_its_session_hears_nothing_more_of_the_first(server: Server) -> None:
    first, second = Client.begin(server), Client.begin(server)
    with Tab(server, first.token) as tab:
        tab.resume()
        tab.until("conversation")
        tab.send({"type": "resume", "conversation": tab.conversation, "after": None, "token": second.token})
        tab.until("conversation")
        first.ask(QUESTION)
        assert tab.quiet()
