"""A Marcel, its tables as it makes them on SQLite, taken over."""

import datetime
import json
import sqlite3
from contextlib import closing
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from analytics.counts.refresh import count_changed
from analytics.models import UsageCount
from chat.models import Conversation, Message, Visitor
from faqs.models import FAQ
from knowledge.models import Document
from tests.factories import AssistantFactory, DocumentFactory

pytestmark = pytest.mark.django_db
TABLES = """
CREATE TABLE user (id INTEGER PRIMARY KEY, client_id CHAR(32) NOT NULL, consent_given BOOLEAN NOT NULL,
    consent_given_at DATETIME);
CREATE TABLE conversation (id CHAR(32) PRIMARY KEY, rating INTEGER, created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL, visible BOOLEAN NOT NULL, user_id INTEGER NOT NULL REFERENCES user (id));
CREATE TABLE message (id INTEGER PRIMARY KEY, role VARCHAR(50) NOT NULL, content TEXT NOT NULL, non_answer BOOLEAN,
    cancelled_answer BOOLEAN, answer_strategy VARCHAR(50), generator_latency FLOAT, e2e_latency FLOAT,
    feedback VARCHAR(100), created_at DATETIME NOT NULL, conversation_id CHAR(32) NOT NULL);
CREATE TABLE document (id INTEGER PRIMARY KEY, url TEXT NOT NULL, content TEXT NOT NULL, title TEXT NOT NULL,
    favicon TEXT NOT NULL, fingerprint CHAR(64) NOT NULL UNIQUE);
CREATE TABLE message_document_map (score FLOAT NOT NULL, message_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
    PRIMARY KEY (message_id, document_id));
"""
NOON = "2026-10-25 12:00:00.000000"


class Marcel:
    """Its database, row by row."""

    def __init__(self, path):
        self.path = path
        self.run(TABLES, script=True)

    def run(self, statement, *values, script=False):
        with closing(sqlite3.connect(self.path)) as connection:
            if script:
                connection.executescript(statement)
                return 0
            cursor = connection.execute(statement, values)
            connection.commit()
            return cursor.lastrowid

    def user(self, *, client=None, agreed=True):
        client = client or uuid4().hex
        return self.run(
            "INSERT INTO user (client_id, consent_given, consent_given_at) VALUES (?, ?, ?)",
            client,
            agreed,
            NOON if agreed else None,
        )

    def conversation(self, user, *messages, rating=None, visible=True, at=NOON):
        key = uuid4().hex
        values = (key, rating, at, at, visible, user)
        self.run("INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?)", *values)
        for message in messages:
            self.message(key, **{"at": at, **message})
        return UUID(key)

    def message(
        self, conversation, *, role, content, at, non_answer=None, cancelled=False, feedback=None, seconds=None
    ):
        return self.run(
            "INSERT INTO message (role, content, non_answer, cancelled_answer, e2e_latency, feedback, created_at,"
            " conversation_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(role, content, non_answer, cancelled, seconds, feedback, at, conversation),
        )

    def source(self, message, url, title, score):
        document = self.run(
            "INSERT INTO document (url, content, title, favicon, fingerprint) VALUES (?, '', ?, '', ?)",
            *(url, title, uuid4().hex),
        )
        self.run("INSERT INTO message_document_map VALUES (?, ?, ?)", score, message, document)


def asked(text):
    return {"role": "user", "content": text}


def answered(text, **fields):
    return {"role": "assistant", "content": text, **fields}


@pytest.fixture
def marcel(tmp_path):
    return Marcel(tmp_path / "marcel.db")


@pytest.fixture
def assistant():
    return AssistantFactory(slug="lindental")


def take_over(marcel, capsys, **options):
    call_command("import_marcel", conversations=str(marcel.path), **options)
    return capsys.readouterr()


def test_conversations_come_with_their_messages_ratings_and_times(marcel, assistant, capsys):
    key = marcel.conversation(
        marcel.user(),
        asked("What is the semester contribution?"),
        answered("318.40 euros.", feedback="good", seconds=1.5),
        asked("Wann muss ich zahlen?"),
        answered("Das weiß ich nicht.", non_answer=True, feedback="bad"),
        asked("And?"),
        answered("It is", cancelled=True),
        rating=4,
    )
    said = take_over(marcel, capsys).out
    conversation = Conversation.objects.get(pk=key)
    noon = datetime.datetime(2026, 10, 25, 12, tzinfo=datetime.UTC)
    assert (conversation.assistant, conversation.stars, conversation.title) == (
        assistant,
        4,
        "What is the semester contribution?",
    )
    assert (conversation.created_at, conversation.updated_at) == (noon, noon)
    answers = list(conversation.messages.filter(role="assistant").order_by("pk"))
    assert [answer.status for answer in answers] == ["complete", "abstained", "stopped"]
    assert [getattr(answer, "feedback", None) and answer.feedback.value for answer in answers] == [1, -1, None]
    assert answers[0].timings_ms == {"total": 1500.0}
    assert {message.created_at for message in conversation.messages.all()} == {noon}
    assert [question.language for question in conversation.messages.filter(role="user")][:2] == ["en", "de"]
    assert "1 conversations, 6 messages" in said


def test_sources_come_best_first_and_lead_to_documents_that_are_here(marcel, assistant, capsys):
    here = DocumentFactory(url="https://www.uni.example/fees", title="Fees")
    key = marcel.conversation(marcel.user(), asked("Fees?"))
    answer = marcel.message(key.hex, **answered("318.40 euros."), at=NOON)
    marcel.source(answer, "https://www.uni.example/other", "Other", 0.1)
    marcel.source(answer, here.url, "Semester fees", 0.9)
    take_over(marcel, capsys)
    citations = Message.objects.get(role="assistant").citations.order_by("n")
    assert [(cited.n, cited.title, cited.document) for cited in citations] == [
        (1, "Semester fees", here),
        (2, "Other", None),
    ]


def test_an_abstention_cites_nothing_though_marcel_kept_what_it_found(marcel, assistant, capsys):
    key = marcel.conversation(marcel.user(), asked("Fees?"))
    answer = marcel.message(key.hex, **answered("I do not know.", non_answer=True), at=NOON)
    marcel.source(answer, "https://www.uni.example/other", "Other", 0.1)
    take_over(marcel, capsys)
    assert not Message.objects.get(role="assistant").citations.exists()


def test_what_nobody_agreed_to_or_hid_is_left_out_and_said(marcel, assistant, capsys):
    marcel.conversation(marcel.user(agreed=False), asked("?"), answered("!"))
    marcel.conversation(marcel.user(), asked("?"), answered("!"), visible=False)
    marcel.conversation(marcel.user())
    said = take_over(marcel, capsys).out
    assert not Conversation.objects.exists()
    assert not Visitor.objects.exists()
    assert "of people who never agreed: 1" in said
    assert "hidden by who asked: 1" in said
    assert "empty: 1" in said


def test_running_it_twice_adds_nothing_twice(marcel, assistant, capsys):
    user = marcel.user()
    marcel.conversation(user, asked("?"), answered("!"))
    take_over(marcel, capsys)
    marcel.conversation(user, asked("More?"), answered("!"))
    said = take_over(marcel, capsys).out
    assert (Conversation.objects.count(), Message.objects.count(), Visitor.objects.count()) == (2, 4, 1)
    assert "there already: 1" in said


def test_two_rows_of_one_person_become_one_visitor_whom_nobody_can_trace_back(marcel, assistant, capsys):
    """Marcel made several rows of one browser where two first requests came at once."""
    client = uuid4()
    for _ in range(2):
        marcel.conversation(marcel.user(client=client.hex), asked("?"), answered("!"))
    take_over(marcel, capsys)
    visitor = Visitor.objects.get()
    assert visitor.conversations.count() == 2
    assert visitor.pk != client
    assert visitor.consented_at == datetime.datetime(2026, 10, 25, 12, tzinfo=datetime.UTC)


def test_odd_rows_are_named_and_the_rest_comes(marcel, assistant, capsys):
    marcel.conversation(
        marcel.user(),
        answered("An answer to nothing."),
        asked("A question that nobody answered"),
        asked("What\x00 now?"),
        answered("This."),
        rating=999999,
    )
    said = take_over(marcel, capsys)
    assert "rating 999999" in said.err
    assert "answers no question" in said.err
    conversation = Conversation.objects.get()
    assert conversation.stars is None
    answers = conversation.messages.filter(role="assistant").order_by("pk")
    assert [(answer.status, answer.text) for answer in answers] == [("failed", ""), ("complete", "This.")]


def test_a_dry_run_says_what_it_would_do_and_does_nothing(marcel, assistant, capsys):
    marcel.conversation(marcel.user(), asked("?"), answered("!"))
    assert "Would be taken over for" in take_over(marcel, capsys, dry_run=True).out
    assert not Conversation.objects.exists()


def test_many_come_in_batches(marcel, assistant, capsys, monkeypatch):
    monkeypatch.setattr("chat.conversations.marcel_import.BATCH", 2)
    monkeypatch.setattr("chat.conversations.marcel_import.BATCH", 2)
    user = marcel.user()
    for number in range(5):
        marcel.conversation(user, asked(f"Question {number}"), answered("!"))
    take_over(marcel, capsys)
    assert Conversation.objects.count() == 5


def test_the_dashboard_counts_what_was_taken_over(marcel, assistant, capsys):
    marcel.conversation(marcel.user(), asked("?"), answered("!"))
    take_over(marcel, capsys)
    count_changed()
    assert UsageCount.objects.get(span="day").questions == 1


def test_what_is_no_marcel_is_refused_with_a_reason(tmp_path, assistant):
    with pytest.raises(CommandError, match="there is no file"):
        call_command("import_marcel", conversations=str(tmp_path / "none.db"))
    (tmp_path / "text.db").write_text("This is no database at all, but a text of some length.")
    with pytest.raises(CommandError, match="has not Marcel's tables"):
        call_command("import_marcel", conversations=str(tmp_path / "text.db"))
    with pytest.raises(CommandError, match="Say what to take over"):
        call_command("import_marcel")


def test_without_an_assistant_it_says_what_to_do_first(marcel):
    with pytest.raises(CommandError, match="no assistant yet: make it first"):
        call_command("import_marcel", conversations=str(marcel.path))


def test_its_pages_and_faqs_come_too(tmp_path, capsys):
    page = {"url": "https://www.uni.example/fees", "content": "# Fees\n\n318.40 euros.", "og": {"title": "Fees"}}
    (tmp_path / "knowledgebase.jsonl").write_text(json.dumps(page))
    faq = [{"question": "What are the fees?", "intent": "fees", "sources": [page["url"]]}]
    (tmp_path / "faq.json").write_text(json.dumps(faq))
    call_command("import_marcel", knowledge=tmp_path / "knowledgebase.jsonl", faqs=tmp_path / "faq.json")
    assert Document.objects.get().title == "Fees"
    imported = FAQ.objects.get()
    assert (imported.status, imported.collection) == ("published", Document.objects.get().collection)
