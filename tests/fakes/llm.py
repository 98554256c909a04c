"""A language model's endpoint that says what a test tells it to: real HTTP on 127.0.0.1, OpenAI's streaming form."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[["_Handler"], None]


class FakeLLM:
    """One for the whole session; `requests` are the bodies it got since `reset`, `script` is how it replies.

    `hung_up` is set when a client went away while it waited; `most_at_once` is how many requests it worked on at the
    same time. Each reset gives it another address, so that what is remembered of an endpoint (failures, options that
    it refused) stays within a test.
    """

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="fake-llm")
        self._thread.start()
        self._lock, self._resets = threading.Lock(), 0
        self.reset()

    def reset(self) -> None:
        self._resets += 1
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/{self._resets}/v1"
        self.requests: list[dict[str, Any]] = []
        # Another set, since what an earlier test left may still be at work.
        self._at_work: set[_Handler] = set()
        self.most_at_once = 0
        self.released, self.hung_up = threading.Event(), threading.Event()
        self.says("The semester contribution is 318.40 euros [1].")

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- what it does with every request from now on ---

    def says(
        self,
        *pieces: str | bytes,
        first_after: float = 0,
        between: float = 0,
        hold_before: int | None = None,
        end: str = "stop",
        tokens: tuple[int, int] | None = None,
    ) -> None:
        """Streams one chunk a piece (bytes: raw, as a part of the body) and ends properly, unless `end` is "cut"
        (the connection breaks), "silence" (the body ends without a finish_reason) or "open" (complete, but the
        body never ends). `tokens` (of prompt and answer) are reported where the request asks for it.

        Before piece number `hold_before` it waits for `release`.
        """
        self.script = partial(
            _stream,
            pieces=pieces,
            first_after=first_after,
            between=between,
            hold_before=hold_before,
            end=end,
            tokens=tokens,
        )

    def says_words(self, text: str, **timing: Any) -> None:
        """Streams `text` word by word."""
        self.says(*(word if index == 0 else f" {word}" for index, word in enumerate(text.split(" "))), **timing)

    def writes(self, write: Callable[[str], str]) -> None:
        """Streams what `write` makes of the last message."""

        def script(handler: "_Handler") -> None:
            text = write(handler.request_body["messages"][-1]["content"])
            _stream(handler, pieces=[text], first_after=0, between=0, hold_before=None, end="stop", tokens=(100, 10))

        self.script = script

    def release(self) -> None:
        """Lets go on what waits at `hold_before`, or hangs."""
        self.released.set()

    def completes(
        self, write: Callable[[str], str], *, tokens: tuple[int, int] = (100, 50), knows_schemas: bool = True
    ) -> None:
        """Reply at once, not streamed, with what `write` makes of the last message, and its tokens as used; to a
        schema that it does not know with 400."""

        def script(handler: "_Handler") -> None:
            if "response_format" in handler.request_body and not knows_schemas:
                handler.reply(400, b'{"error": {"message": "response_format is unknown"}}', "application/json", {})
                return
            text = write(handler.request_body["messages"][-1]["content"])
            message = {"role": "assistant", "content": text}
            completion = {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "fake",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
            }
            handler.reply(200, json.dumps(completion).encode(), "application/json", {})

        self.script = script

    def fails(self, status: int, *, headers: dict[str, str] | None = None, times: int | None = None) -> None:
        """Reply with an error status; after `times` of them it goes on as before."""
        before, left = self.script, [times]

        def script(handler: "_Handler") -> None:
            if left[0] == 0:
                before(handler)
                return
            if left[0] is not None:
                left[0] -= 1
            body = json.dumps({"error": {"message": "no", "code": status}}).encode()
            handler.reply(status, body, "application/json", headers or {})

        self.script = script

    def refuses(self, option: str, status: int = 400) -> None:
        """Reply as before, but with an error to a request that has this option."""
        before = self.script

        def script(handler: "_Handler") -> None:
            if option in handler.request_body:
                handler.reply(status, b'{"error": {"message": "unknown option"}}', "application/json", {})
            else:
                before(handler)

        self.script = script

    def breaks(self, times: int) -> None:
        """Close the connection without a word; after `times` of them it goes on as before."""
        before, left = self.script, [times]

        def script(handler: "_Handler") -> None:
            left[0] -= 1
            if left[0] < 0:
                before(handler)

        self.script = script

    def repeats(self, piece: str, *, before: str = "") -> None:
        """Streams `before`, then `piece` again and again, until the client goes away."""

        def script(handler: "_Handler") -> None:
            handler.begin_stream()
            handler.write_part(_chunk(before))
            with self.hanging_up_noted():
                while not self.released.wait(0.001):
                    handler.write_part(_chunk(piece))

        self.script = script

    def sends(self, body: bytes, *, content_type: str = "text/event-stream") -> None:
        """Reply 200 with this body, whatever it is."""
        self.script = lambda handler: handler.reply(200, body, content_type, {})

    def hangs(self) -> None:
        """Read the request and say nothing until it is released."""
        self.script = lambda handler: handler.hold()

    def streams_split(self, text: str, *, size: int = 1) -> None:
        """Answer normally, with bytes that arrive `size` at a time, also within a character."""
        body = (
            b"".join(_chunk(word) for word in text.split(" ") for word in (word + " ",)) + _chunk(None, "stop") + DONE
        )
        self.says(*(body[at : at + size] for at in range(0, len(body), size)), end="silence")

    # --- what it notices ---

    @contextmanager
    def working(self, handler: "_Handler") -> Iterator[None]:
        at_work = self._at_work
        with self._lock:
            at_work.add(handler)
            self.most_at_once = max(self.most_at_once, len(at_work))
        try:
            yield
        finally:
            with self._lock:
                at_work.remove(handler)

    @contextmanager
    def hanging_up_noted(self) -> Iterator[None]:
        try:
            yield
        except ConnectionError:
            self.hung_up.set()
            raise

    # --- what it was told ---

    @property
    def prompt(self) -> str:
        """All that was said to it last, system and user."""
        return "\n".join(message["content"] for message in self.requests[-1]["messages"])


def _chunk(content: str | None, finish_reason: str | None = None) -> bytes:
    return event(delta={} if content is None else {"content": content}, finish_reason=finish_reason)


def event(
    *, delta: dict[str, Any] | None = None, finish_reason: str | None = None, usage: dict[str, int] | None = None
) -> bytes:
    """One chunk of a stream as it is sent; without a delta it has no choice, as the one that reports usage."""
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        **({"usage": usage} if usage else {}),
    }
    # Not escaped to ASCII, as vLLM does: a character may be split between two packets.
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def _stream(
    handler: "_Handler",
    *,
    pieces: Sequence[str | bytes],
    first_after: float,
    between: float,
    hold_before: int | None,
    end: str,
    tokens: tuple[int, int] | None,
) -> None:
    handler.begin_stream()
    handler.pause(first_after)
    for number, piece in enumerate(pieces):
        if number == hold_before:
            handler.hold()
        if number:
            handler.pause(between)
        handler.write_part(piece if isinstance(piece, bytes) else _chunk(piece))
    if hold_before == len(pieces):
        handler.hold()
    if end == "cut":
        return
    if end in {"stop", "open"}:
        handler.write_part(_chunk(None, "stop"))
        if tokens and handler.request_body.get("stream_options", {}).get("include_usage"):
            usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
            handler.write_part(event(usage=usage))
        if end == "open":
            handler.hold()
        handler.write_part(DONE)
    handler.end_stream()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, llm: FakeLLM, *args: Any) -> None:
        self.llm = llm
        # Gone clients (stop, timeout) are no mistake of a test.
        with suppress(ConnectionError):
            super().__init__(*args)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.request_body = json.loads(body)
        self.llm.requests.append(self.request_body)
        self.close_connection = True
        with self.llm.working(self):
            self.llm.script(self)

    def reply(self, status: int, body: bytes, content_type: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()

    def write_part(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def hold(self) -> None:
        """Wait for the release, or for the client to hang up."""
        for _attempt in range(1500):
            if self.llm.released.wait(0.02):
                return
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self.llm.hung_up.set()
                raise ConnectionResetError

    def pause(self, seconds: float) -> None:
        if seconds:
            self.llm.released.wait(seconds)

    def log_message(self, format: str, *args: Any) -> None:
        pass
