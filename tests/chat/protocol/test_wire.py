"""Every event as it goes over the wire, recorded; no change of the code may change one of them."""

import json
import timeit
from dataclasses import asdict, dataclass

import pytest

from chat.protocol.answer_events import (
    Abstain,
    Choice,
    Cited,
    Clarify,
    Delta,
    End,
    Error,
    Help,
    Queued,
    Sources,
    Working,
)
from chat.protocol.event import Event
from chat.protocol.events import (
    ConversationDeleted,
    Erased,
    FeedbackEvent,
    MessageStart,
    Ping,
    RatingEvent,
    StartedMessage,
    StartedQuestion,
)
from chat.protocol.shapes import Contact, HelpCard, HelpContact, Link, Source
from chat.websocket.frames import error_reply

SOURCE = Source(1, "Fees", "https://u.example/fees#s", "Due", 3, "318.40 euros", (Link("Form", "https://u.example/f"),))
SOURCE_JSON = (
    '{"n": 1, "title": "Fees", "url": "https://u.example/fees#s", "heading": "Due", "page": 3, '
    '"quote": "318.40 euros", "links": [{"label": "Form", "url": "https://u.example/f"}], '
    '"language": "", "checked_on": "", "edition": "", "read_by_ocr": false}'
)
BARE = Source(2, "Jobs", "https://u.example/jobs", "", None, "Für alle")
BARE_JSON = (
    '{"n": 2, "title": "Jobs", "url": "https://u.example/jobs", "heading": "", "page": null, '
    '"quote": "F\\u00fcr alle", "links": [], "language": "", "checked_on": "", "edition": "", "read_by_ocr": false}'
)
CARD = HelpCard(
    "crisis", (HelpContact("Hotline", "112", "", ""), HelpContact("Office", "", "https://u.example", "o@u.example"))
)
CARD_JSON = (
    '{"kind": "crisis", "contacts": [{"name": "Hotline", "phone": "112", "url": "", "email": ""}, '
    '{"name": "Office", "phone": "", "url": "https://u.example", "email": "o@u.example"}]}'
)
RECORDED: list[tuple[Event, str]] = [
    (Delta("Grüße \ud83d"), '{"type": "message_delta", "text": "Gr\\u00fc\\u00dfe \\ud83d"}'),
    (Cited(SOURCE, 7, 8), f'{{"type": "citation", "source": {SOURCE_JSON}}}'),
    (Cited(BARE, passage_id=7, document_id=8), f'{{"type": "citation", "source": {BARE_JSON}}}'),
    (Sources((SOURCE, BARE)), f'{{"type": "sources", "sources": [{SOURCE_JSON}, {BARE_JSON}]}}'),
    (Sources(()), '{"type": "sources", "sources": []}'),
    (
        Abstain("no_evidence", "Sorry", Contact("Office", "", "o@u.example"), ("Fees?",)),
        '{"type": "abstain", "reason": "no_evidence", "text": "Sorry", '
        '"contact": {"name": "Office", "url": "", "email": "o@u.example"}, "related": ["Fees?"]}',
    ),
    (
        Abstain("abuse", "No", None),
        '{"type": "abstain", "reason": "abuse", "text": "No", "contact": null, "related": []}',
    ),
    (Help("Call", CARD), f'{{"type": "help", "text": "Call", "card": {CARD_JSON}}}'),
    (
        Clarify("Which?", (Choice("Bachelor", "degree:ba"), Choice("Other", "")), "degree", "Fees?"),
        '{"type": "clarify", "text": "Which?", "choices": ["Bachelor", "Other"]}',
    ),
    (Working("reading", 6), '{"type": "working", "stage": "reading", "pages": 6}'),
    (Queued(3), '{"type": "queued", "position": 3}'),
    (Error("busy", "Wait", 5), '{"type": "error", "code": "busy", "detail": "Wait", "retry_after": 5}'),
    (Error("internal", "Sorry"), '{"type": "error", "code": "internal", "detail": "Sorry", "retry_after": null}'),
    (
        End(
            "complete",
            "generated",
            "busy",
            model="m",
            route="question",
            finished_at="2026-11-01",
            retrieved=[{"a": 1}],
            timings_ms={"t": 1.5},
        ),
        '{"type": "message_end", "status": "complete", "strategy": "generated", "notice": "busy", '
        '"finished_at": "2026-11-01", "machine_made": true, "related": [], "dates": []}',
    ),
    (
        End(status="stopped", strategy=""),
        '{"type": "message_end", "status": "stopped", "strategy": "", "notice": "", "finished_at": null, '
        '"machine_made": true, "related": [], "dates": []}',
    ),
    (
        End(status="complete", strategy="written"),
        '{"type": "message_end", "status": "complete", "strategy": "written", "notice": "", "finished_at": null, '
        '"machine_made": false, "related": [], "dates": []}',
    ),
]


@pytest.mark.parametrize(("event", "recorded"), RECORDED, ids=lambda value: getattr(value, "type", ""))
def test_an_event_goes_over_the_wire_as_it_was_recorded(event: Event, recorded: str) -> None:
    assert json.loads(json.dumps(event.to_wire())) == json.loads(recorded)


def test_the_events_beside_an_answer_go_over_the_wire_as_they_were_recorded() -> None:
    start = MessageStart(StartedQuestion(1, "c", "Fees?", "2026-11-01"), StartedMessage(2, "2026-11-02"))
    assert start.to_wire() == {
        "type": "message_start",
        "question": {"id": 1, "client_id": "c", "text": "Fees?", "created_at": "2026-11-01"},
        "message": {"id": 2, "created_at": "2026-11-02"},
        "replaces": None,
    }
    assert FeedbackEvent(2, -1, ["wrong"]).to_wire() == {
        "type": "feedback",
        "message": 2,
        "value": -1,
        "reasons": ["wrong"],
    }
    assert RatingEvent(4).to_wire() == {"type": "rating", "stars": 4}
    assert ConversationDeleted("c").to_wire() == {"type": "conversation_deleted", "seq": None, "conversation": "c"}
    assert Erased().to_wire() == {"type": "erased", "seq": None}
    assert Ping().to_wire() == {"type": "ping"}
    assert error_reply("busy", "Wait", about={"client_id": "c", "message": [1], "text": "x"}, retry_after=5) == {
        "type": "error",
        "seq": None,
        "code": "busy",
        "detail": "Wait",
        "retry_after": 5,
        "client_id": "c",
    }


def test_writing_a_delta_costs_little_more_than_writing_a_plain_dataclass() -> None:
    @dataclass(frozen=True, slots=True)
    class Plain:
        text: str

    def write_plain() -> object:
        return {"type": "message_delta", **asdict(Plain("word "))}

    def write_delta() -> object:
        return Delta("word ").to_wire()

    # By turns, so that another load on the machine meets both.
    turns = [(timeit.timeit(write_plain, number=1000), timeit.timeit(write_delta, number=1000)) for _ in range(10)]
    plain, delta = map(min, zip(*turns, strict=True))
    assert delta < 2 * plain, f"{delta / plain:.2f} times as long"
