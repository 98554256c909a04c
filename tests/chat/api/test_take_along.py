"""What a student takes along: a conversation as a file, a date for the calendar."""

import datetime
import re

import pytest
from django.utils import timezone

from chat.models import Citation, Message
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.servers import Server

pytestmark = pytest.mark.usefixtures("pages")


def test_a_conversation_is_one_file_that_loads_nothing(server: Server) -> None:
    client, other = Client.begin(server), Client.begin(server)
    answer = client.ask(QUESTION)
    Message.objects.filter(pk=answer.message).update(text="**318 euros** [1] <script>alert(1)</script>")
    path = f"/api/v1/conversations/{answer.conversation}/file"
    reply = client.get(path)
    assert reply.headers["content-disposition"] == 'attachment; filename="conversation.html"'
    page = reply.body.decode()
    assert QUESTION in page
    assert "<strong>318 euros</strong>" in page
    assert "<script" not in page
    assert 'src="' not in page
    assert "https://" in page
    assert other.get(path).status == 404


def test_the_file_says_what_a_program_read_off_a_picture(server: Server) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    path = f"/api/v1/conversations/{answer.conversation}/file"
    assert "read by OCR" not in client.get(path).body.decode()
    Citation.objects.filter(message=answer.message).update(read_by_ocr=True)
    assert "read by OCR" in client.get(path).body.decode()


@pytest.mark.parametrize(
    ("strategy", "mark"),
    [("generated", "trainedAlgorithmicMedia"), ("extractive", "algorithmicMedia"), ("written", ""), ("fixed", "")],
)
def test_what_a_machine_made_is_marked_for_programs_in_the_api_and_in_the_file(
    server: Server, strategy: str, mark: str
) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    Message.objects.filter(pk=answer.message).update(strategy=strategy)
    path = f"/api/v1/conversations/{answer.conversation}"
    messages = client.get(path).json["messages"]
    assert [message["machine_made"] for message in messages] == [False, bool(mark)]
    page = client.get(f"{path}/file").body.decode()
    assert re.findall(r'data-digital-source-type="(\w+)"', page) == [mark][: bool(mark)]


def test_a_date_of_an_answer_is_a_calendars_file(server: Server) -> None:
    client, other = Client.begin(server), Client.begin(server)
    answer = client.ask(QUESTION)
    day = timezone.localdate() + datetime.timedelta(days=40)
    Message.objects.filter(pk=answer.message).update(text=f"You pay until {day.day} {day:%B} {day.year} [1].")
    saved = client.get(f"/api/v1/conversations/{answer.conversation}").json["messages"][1]
    assert [each["begin"] for each in saved["dates"]] == [day.isoformat()]
    path = f"/api/v1/messages/{answer.message}/calendar?begin={day.isoformat()}"
    reply = client.get(path)
    assert reply.headers["content-type"] == "text/calendar; charset=utf-8"
    assert f"DTSTART;VALUE=DATE:{day:%Y%m%d}" in reply.body.decode()
    assert saved["sources"][0]["url"].split("#")[0] in reply.body.decode().replace("\r\n ", "")
    assert other.get(path).status == 404
    assert client.get(f"/api/v1/messages/{answer.message}/calendar?begin=2020-01-01").status == 404
