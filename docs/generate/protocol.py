"""The wire protocol's page, from the schema that clients and tests use."""

import json
from pathlib import Path

from docs.generate.tables import shape

SCHEMA = Path(__file__).resolve().parents[2] / "chat" / "widget" / "protocol.schema.json"
INTRODUCTION = """# Wire protocol

{description}

This page is made from `chat/widget/protocol.schema.json`, which is made from the models in `chat/protocol`. The tests
check every frame that the server sends against it. The widget's TypeScript types are made from the same models.

## A conversation, frame by frame

1. The page asks `GET /api/v1/assistant`. Nothing is stored and no identifier is made.
2. The visitor agrees. The page asks `POST /api/v1/session` and gets a signed token.
3. It opens the websocket `/ws/chat`. The first frame is a `resume` with the token. The token never stands in the
   address, and no cookie is set.
4. It sends `ask` with a `client_id` of its own making. Sent twice, it is still one question.
5. The server sends `message_start`, then `message_delta` for the words, `citation` before the first use of a source,
   `sources` with all of them, and `message_end`. What was sent is never taken back. `abstain` comes instead of an
   answer. `clarify` asks the student back. `help` comes alone, instead of an answer, if the message
   is a cry for help; `as_question` in the next `ask` looks the same text up all the same. `queued` says how many wait
   for the model before this one.
6. Every event of an answer has a number, `seq`. After a lost line the client sends `resume` with the last number it
   saw, and gets exactly what it missed.

Where a network lets no websocket through, the same events come as server-sent events, see
[the public API](public-api.md). Words that wait in the server are told together: a lone answer's words come one by
one, those of a hundred answers at most ten times a second.

A socket that carried no token that holds within 30 seconds is closed with the code 4401, whatever else it sends: get
the token first, then connect. After 4401 and 4408 a client may come back after a wait that grows; after 4403 it is not
wanted on this page. See [CloseCode](#closecode).

A frame may have at most 128 KiB. A tab may send 60 frames at once and ten a second for as long as it likes: who sends
faster waits. What a client sends besides the properties below is passed over.
"""


def page() -> str:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    shapes = schema["$defs"]
    client = [part["$ref"].rsplit("/", 1)[-1] for part in shapes["ClientFrame"]["oneOf"]]
    server = [part["$ref"].rsplit("/", 1)[-1] for part in shapes["ServerEvent"]["oneOf"]]
    others = [name for name in shapes if name not in {*client, *server, "ClientFrame", "ServerEvent"}]
    parts = [INTRODUCTION.format(description=schema["description"])]
    for title, names in (("What clients send", client), ("What the server says", server), ("Shapes", others)):
        parts.append(f"## {title}\n")
        parts += [shape(name, shapes[name]) for name in names]
    return "\n".join(parts)
