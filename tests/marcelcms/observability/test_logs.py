"""What a student says stands in no line of a log, whatever breaks; what operators need does, under the request's id."""

import io
import json
import logging
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from celery import shared_task
from django.contrib.auth import get_user_model
from django.db import DatabaseError, DataError, OperationalError, connection, transaction

from chat.pipeline import run as pipeline_run
from chat.streaming import runner
from marcelcms.embedded.run import ROOT
from marcelcms.observability import logs
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

#: Such a word is in no text of the product.
MARK = "Zyxquagmire"
ASKED = f"{QUESTION} {MARK}"
LEVELS = logs.configuration(form="json", level="DEBUG")


class Lines:
    """Everything that a process would write with LOG_LEVEL=DEBUG, as both forms."""

    def __init__(self) -> None:
        self._streams = {form: io.StringIO() for form in logs.RENDERERS}

    def handlers(self) -> Iterator[logging.Handler]:
        for form, stream in self._streams.items():
            handler = logging.StreamHandler(stream)
            handler.setFormatter(logs.EventFormatter(form))
            handler.addFilter(logs.OneWarning())
            yield handler

    @property
    def text(self) -> str:
        return "\n".join(stream.getvalue() for stream in self._streams.values())

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._streams["json"].getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    lines, root = Lines(), logging.getLogger()
    kept = {name: logging.getLogger(name).level for name in LEVELS["loggers"]}
    for name, options in LEVELS["loggers"].items():
        logging.getLogger(name).setLevel(options["level"])
    handlers, level = list(lines.handlers()), root.level
    root.setLevel(LEVELS["root"]["level"])
    for handler in handlers:
        root.addHandler(handler)
    yield lines
    for handler in handlers:
        root.removeHandler(handler)
    root.setLevel(level)
    for name, before in kept.items():
        logging.getLogger(name).setLevel(before)


def asked(server: Server, text: str = ASKED) -> None:
    """Over both doors: the socket and the stream of events."""
    with server.connect() as tab:
        tab.answer(text)
    Client.begin(server).ask(text)


def test_a_question_leaves_no_word_of_it(server: Server, pages: None, lines: Lines) -> None:
    asked(server)
    assert MARK not in lines.text


@pytest.mark.parametrize("trouble", ["says", "declines", "fails", "breaks", "garbage"])
def test_nor_with_a_language_model_that_does_what_it_likes(
    server: Server, pages: None, llm: FakeLLM, lines: Lines, trouble: str
) -> None:
    match trouble:
        case "says":
            llm.says_words(f"It is 318.40 euros [1]. {MARK}")
        case "declines":
            llm.says_words(f"NO {MARK}")
        case "fails":
            llm.fails(500)
        case "breaks":
            llm.breaks(1)
        case "garbage":
            llm.sends(f"data: {{{MARK}\n\n".encode())
    asked(server)
    assert MARK not in lines.text


def test_nor_when_the_answer_fails_with_the_question_in_the_exception(
    server: Server, pages: None, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        try:
            raise DataError(f"invalid byte sequence in {ASKED}")
        except DataError as error:
            raise ValueError(ASKED) from error

    monkeypatch.setattr(pipeline_run, "gather", fail, raising=False)
    monkeypatch.setattr(runner, "answer", fail)
    with server.connect() as tab:
        tab.answer(ASKED)
    assert MARK not in lines.text
    failed = next(event for event in lines.events if event["event"] == "answer failed")
    assert any(line.startswith("builtins.ValueError") for line in failed["exception"])
    assert any("test_logs.py" in line for line in failed["exception"]), "where it was raised is told"


def test_nor_when_a_task_fails_with_words_in_its_exception(lines: Lines) -> None:
    @shared_task
    def fail(words: str) -> None:
        raise ValueError(words)

    fail.apply(args=[MARK])
    trace = logging.getLogger("celery.app.trace")
    context = {"name": "t", "id": "1", "exc": f"ValueError({MARK!r})", "traceback": MARK, "args": MARK, "kwargs": "{}"}
    trace.error("Task %(name)s[%(id)s] raised: %(exc)s\n%(traceback)s", context)
    logging.getLogger("celery.worker.request").error("Task handler raised error: %r", ValueError(MARK))
    assert MARK not in lines.text
    assert {"task failed"} <= {event["event"] for event in lines.events}


@pytest.mark.parametrize("name", ["openai._base_client", "httpx", "httpcore.http11", "websockets.server", "asyncio"])
def test_libraries_that_log_what_they_send_are_kept_quiet(lines: Lines, name: str) -> None:
    logging.getLogger(name).debug("Request options: %s", MARK)
    logging.getLogger(name).info("Request options: %s", MARK)
    assert lines.text.strip() == ""


def test_a_record_is_its_event_and_its_values(lines: Lines) -> None:
    logging.getLogger("chat.streaming.runner").warning("answer saved message=%d code=%s seconds=%.1f", 7, "late", 0.25)
    (event,) = lines.events
    assert (event["event"], event["message"], event["code"], event["seconds"]) == ("answer saved", 7, "late", 0.25)
    assert (event["level"], event["logger"]) == ("warning", "chat.streaming.runner")


def test_what_is_no_scalar_is_named_by_its_type_only(lines: Lines) -> None:
    logging.getLogger("chat.streaming.runner").warning("odd thing=%s long=%s", {MARK: MARK}, "x" * 5000)
    (event,) = lines.events
    assert event["thing"] == "<dict>"
    assert len(event["long"]) == logs.MOST_CHARACTERS


def test_exceptions_about_the_machine_say_what_is_wrong(lines: Lines) -> None:
    try:
        raise OperationalError("connection refused\nDETAIL: a row")
    except OperationalError:
        logging.getLogger("chat.streaming.runner").exception("database away")
    (event,) = lines.events
    assert event["exception"][0] == "django.db.utils.OperationalError: connection refused"


def test_an_error_of_the_database_is_told_without_the_row_that_it_refused(lines: Lines) -> None:
    get_user_model().objects.create(username=MARK)
    for provoke in (
        lambda: get_user_model().objects.create(username=MARK),
        lambda: connection.cursor().execute("SELECT %s::int", [MARK]),
        lambda: connection.cursor().execute(f"SELECT {MARK}"),
        lambda: connection.cursor().execute("SELECT set_config('statement_timeout', %s, false)", [MARK]),
    ):
        try:
            with transaction.atomic():
                provoke()
        except DatabaseError as error:
            logging.getLogger("chat.streaming.runner").exception("not saved")
            logging.getLogger("chat.streaming.runner").error("not saved error=%s", error)
            logging.getLogger("celery.worker").error("Task raised: %r", error)
            logging.getLogger("celery.worker").error("Task raised: %(exc)s", {"exc": error})
            logging.getLogger("django.request").exception(str(error))
            quoting = f"Cannot store: {error}"
            logging.getLogger("celery.beat").error(quoting)
    assert len(lines.events) == 24
    assert MARK not in lines.text


def test_nobody_can_add_a_line_of_their_own(lines: Lines) -> None:
    logging.getLogger("django.request").warning("Not Found: %s", "/x\n2026-01-01 ERROR chat forged \x1b[31m")
    assert len(lines.events) == 1
    assert len([line for line in lines.text.splitlines() if line.strip()]) == 2
    assert "\x1b" not in lines.text


def test_all_lines_of_a_request_have_its_id_and_the_reply_tells_it(server: Server, lines: Lines) -> None:
    def get(given: str) -> str:
        request = urllib.request.Request(f"{server.origin}/documents/none/x.pdf", headers={"X-Request-ID": given})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=15)
        with caught.value as reply:
            return str(reply.headers["X-Request-ID"])

    assert get("proxy-made-4711") == "proxy-made-4711"
    assert [event["request_id"] for event in lines.events if event["logger"] == "django.request"] == ["proxy-made-4711"]
    for forged in ("short", "with space inside", "x" * 65, 'a"b' * 4):
        assert re.fullmatch("[0-9a-f]{32}", get(forged))


def test_a_task_has_the_id_of_the_request_that_queued_it() -> None:
    from marcelcms.observability.celery import HEADER, begin_task, end_task, send_request_id

    class Task:
        name = "t"

        class request:
            pass

    logs.begin("request-of-a-student")
    headers: dict[str, Any] = {}
    send_request_id(headers=headers)
    logs.end()
    setattr(Task.request, HEADER, headers[HEADER])
    begin_task(task_id="1", task=Task)
    assert logs.current() == "request-of-a-student"
    end_task(task_id="1", task=Task, state="SUCCESS")
    assert logs.current() == ""


def test_our_own_records_are_of_one_form() -> None:
    """Words, then name=value pairs with a placeholder each; no f-strings, no exception's own words, no text."""
    form = re.compile(r"[a-z][\w ,]*( [A-Za-z]\w*=%(\.\d+)?[sdf])*")
    calls = re.compile(r'\blogger\.(?:debug|info|warning|error|exception)\(\s*(f?)"([^"]*)"', re.DOTALL)
    wrong = []
    for app in logs.OURS:
        for path in (ROOT / app).rglob("*.py"):
            for prefix, template in calls.findall(path.read_text()):
                if prefix or not form.fullmatch(template):
                    wrong.append(f"{path.relative_to(ROOT)}: {template}")
    assert wrong == []


def test_uvicorn_and_the_commands_write_lines_of_that_form() -> None:
    code = "import django, logging; django.setup(); logging.getLogger('uvicorn.error').info('started %d', 1)"
    environment = {
        "DJANGO_SETTINGS_MODULE": "marcelcms.settings",
        "SECRET_KEY": "x",
        "LOG_FORMAT": "json",
        "DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stderr)["event"] == "started 1"
