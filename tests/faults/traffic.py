"""Students who ask, lose their connection and ask again, and a member of staff who edits, while servers come and go."""

import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import WebSocketException

from tests.servers import Server, Tab

QUESTION = "How much is the semester contribution?"
#: Seconds of silence after which a tab asks what it missed.
SILENCE = 3.0
#: What a tab, or a program, of somebody whose server is away sees.
AWAY = (OSError, WebSocketException, AssertionError)


@dataclass
class Asked:
    """One question; times are on the monotonic clock, that of its answer's first words among them, `text` is what was
    streamed, where that came in one piece, and `seq` the number of its last event."""

    client_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    conversation: str = field(default_factory=lambda: str(uuid.uuid4()))
    asked: float = field(default_factory=time.monotonic)
    begun: float = 0
    ended: float = 0
    status: str = ""
    text: str | None = ""
    seq: int = 0
    sent: int = 0
    refusals: list[str] = field(default_factory=list)


class Student(threading.Thread):
    """Asks one question after the other, each in a conversation of its own; what gets no reply is sent again under the
    same `client_id`, as the page does. `drops` cuts the connection in the middle of every so many answers."""

    def __init__(self, server: Server, token: str, *, drops: int = 0) -> None:
        super().__init__(daemon=True)
        self.server, self.token, self.drops = server, token, drops
        self.answered: list[Asked] = []
        self.lost_connections = 0
        self.ending = threading.Event()
        self._tab: Tab | None = None

    def run(self) -> None:
        while not self.ending.is_set():
            one = Asked()
            while not one.status:
                self._try(one)
            self.answered.append(one)
        self._leave()

    def _try(self, one: Asked) -> None:
        try:
            tab = self._tab = self._tab or Tab(self.server, self.token)
            if one.sent:
                one.text = None  # the rest comes as it is saved
            one.sent += 1
            tab.ask(QUESTION, conversation=one.conversation, client_id=one.client_id)
            while not one.status and self._takes(tab, one):
                pass
        except AWAY:
            self.lost_connections += 1
            self._leave()
            time.sleep(0.3)

    def _takes(self, tab: Tab, one: Asked) -> bool:
        """Take an event. Return False if the question must be sent again."""
        try:
            event = tab.next(SILENCE)
        except TimeoutError:
            tab.resume(conversation=one.conversation)
            return True
        if event.get("conversation") not in (None, one.conversation):
            return True
        if seq := event.get("seq"):
            if seq <= one.seq:
                return True  # seen, as by the page
            if seq > one.seq + 1:  # told while the server's own connection was coming back: the page asks for it
                one.text = None
            one.seq = seq
        if event["type"] == "message_delta":
            one.begun = one.begun or time.monotonic()
        match event["type"]:
            case "message_delta" if one.text is not None:
                one.text += event["text"]
                if self.drops and len(self.answered) % self.drops == self.drops - 1 and one.sent == 1:
                    tab.drop()
            case "replace":
                one.text = None
            case "message_end":
                self._ended(one, event["status"])
            case "conversation":
                one.text = None
                answers = [each for each in event["messages"] if each["role"] == "assistant"]
                if not answers:
                    return False
                if answers[-1]["status"] != "generating":
                    self._ended(one, answers[-1]["status"])
            case "error" if event["code"] == "session_expired":
                self.token = self.server.session(token=self.token)  # who it is stays, as with the page
                self._leave()
                return False
            case "error" if event.get("message") is None:
                one.refusals.append(event["code"])
                time.sleep(0.3)
                return False
        return True

    def _ended(self, one: Asked, status: str) -> None:
        one.ended, one.status = time.monotonic(), status

    def _leave(self) -> None:
        tab, self._tab = self._tab, None
        if tab:
            with suppress(*AWAY):
                tab.close()


class Editor(threading.Thread):
    """A program of the staff's that writes one document again and again; `sent` are all texts that it tried,
    `accepted` the number of the last one that the server said it has."""

    def __init__(self, server: Server, token: str, document: int, *, pause: float = 0.5) -> None:
        super().__init__(daemon=True)
        self.server, self.token, self.pause = server, token, pause
        self.path = f"documents/{document}/"
        self.sent: list[str] = []
        self.accepted = -1
        self.times: list[float] = []
        self.troubles: list[str] = []
        self.ending = threading.Event()

    def run(self) -> None:
        while not self.ending.wait(self.pause):
            try:
                version = self.call("GET", self.path)["version"]
                text = f"# Room {len(self.sent)}\n\nThe matter is decided in room {len(self.sent)}."
                self.sent.append(text)
                self.call("PATCH", self.path, {"version": version, "text": text})
            except (OSError, ValueError) as error:
                self.troubles.append(f"{type(error).__name__} {error}")
                continue
            self.accepted = len(self.sent) - 1
            self.times.append(time.monotonic())

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request. Raise OSError, also for a status that tells of an error."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        address = f"{self.server.origin}/api/staff/v1/{path}"
        request = urllib.request.Request(address, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)


@dataclass(frozen=True)
class Traffic:
    students: list[Student]
    editor: Editor

    @property
    def answered(self) -> list[Asked]:
        return [one for student in self.students for one in student.answered]

    def goes_on(self, *, after: float, statuses: tuple[str, ...] = ("complete",), seconds: float = 180) -> float:
        """Seconds from `after` until questions are answered and edits accepted again."""
        deadline = time.monotonic() + seconds
        while True:
            answers = [one.ended for one in self.answered if one.ended > after and one.status in statuses]
            edits = [moment for moment in self.editor.times if moment > after]
            if answers and edits:
                return max(min(answers), min(edits)) - after
            assert time.monotonic() < deadline, (answers, edits, self.editor.troubles[-3:], self.refusals())
            time.sleep(0.1)

    def writes_again(self, *, after: float) -> float:
        """Seconds from `after` until the first words of an answer that came to its end."""
        return min(one.begun for one in self.answered if one.begun > after and one.status == "complete") - after

    def refusals(self) -> set[str]:
        return {code for one in self.answered for code in one.refusals}


@contextmanager
def traffic(server: Server, token: str, document: int, *, students: int = 3, drops: int = 0) -> Iterator[Traffic]:
    """End when every question that was asked is answered."""
    asking = [Student(server, server.session(), drops=drops) for _ in range(students)]
    going = Traffic(asking, Editor(server, token, document))
    threads = [*asking, going.editor]
    for thread in threads:
        thread.start()
    try:
        yield going
    finally:
        for thread in threads:
            thread.ending.set()
        for thread in threads:
            thread.join(120)
    assert not [thread for thread in threads if thread.is_alive()]
