"""Questions asked over HTTP, as a page does where websockets do not get through; knows no Django."""

import http.client
import json
import time
from typing import Any

PAUSE, PATIENCE = 0.01, 120.0


def asked(
    port: int, path: str, body: dict[str, Any], *, token: str = "", patience: float = 0
) -> http.client.HTTPResponse:
    """Return the reply, as soon as it begins; who refuses connections is asked again for `patience` seconds."""
    headers = {"Content-Type": "application/json", "Host": "localhost"}
    if token:
        headers |= {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    deadline = time.perf_counter() + patience
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("POST", path, json.dumps(body), headers)
        except ConnectionRefusedError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(PAUSE)
            continue
        reply = connection.getresponse()
        assert reply.status == 200, (reply.status, reply.read())
        return reply


def first_word(reply: http.client.HTTPResponse) -> float:
    while line := reply.readline():
        if b"message_delta" in line:
            return time.perf_counter()
    raise AssertionError("no word of an answer came")
