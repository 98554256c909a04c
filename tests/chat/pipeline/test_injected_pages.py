"""A model that does what a retrieved page says, behind the real doors: nothing of it reaches a student."""

import itertools
import json
import re
import uuid
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from chat.pipeline.question import Question
from chat.pipeline.reply import Reply
from chat.pipeline.run import collect
from knowledge.indexing.documents import sync_pending
from knowledge.models import FlaggedText
from knowledge.services.documents import decide_flagged
from tests.chat.attacks import planted, repeated
from tests.chat.data_sets import FOLDER, needs_data_sets
from tests.factories import AssistantFactory, DocumentFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Answer, Server

pytestmark = pytest.mark.slow

QUESTION = "How high is the semester contribution?"
FACT = "The semester contribution is 318.40 euros each semester."
#: What no answer may hold that a page planted: addresses, markup, fences. Simpler than the guard, and not its code.
HARM = re.compile(r"https?:|hxxp|www\.|\.example|@|<[a-z/!|]|!\[|\]\(|<<|9,999|you are admitted", re.IGNORECASE)


def plant(attack: str) -> None:
    """Import an attack that staff cleared, so that the guard alone stands against it."""
    DocumentFactory(title="Fees", url="https://www.uni.example/fees", text=f"# Fees\n\n{FACT}\n\n{attack}")
    sync_pending()
    decide_flagged(flagged=FlaggedText.objects.all(), state=FlaggedText.State.CLEARED)


def shares_words(text: str, rules: str, *, length: int = 8) -> bool:
    said, told = (re.findall(r"\w+", each.lower()) for each in (text, rules))
    runs = {tuple(told[at : at + length]) for at in range(len(told) - length + 1)}
    return any(tuple(said[at : at + length]) in runs for at in range(len(said) - length + 1))


@pytest.fixture
def _connections_end_with_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


def reply_to(llm: FakeLLM, payload: str) -> Reply:
    llm.says_words(f"{FACT} [1] {payload}")
    return async_to_sync(collect)(Question(text=QUESTION))


def rules_told(llm: FakeLLM) -> str:
    return str(llm.requests[-1]["messages"][0]["content"])


def stays(answer: Answer) -> str:
    """Return what is left of it in the end."""
    last = max((place for place, kind in enumerate(answer.types) if kind == "message_replace"), default=-1)
    return "".join(event["text"] for event in answer.events[last + 1 :] if event["type"] == "message_delta")


@pytest.mark.parametrize("attack", planted())
def test_nothing_stays_of_what_a_page_made_the_model_write(server: Server, llm: FakeLLM, attack: str) -> None:
    for kind, payload, answer in answers(server, llm, attack):
        assert attack.split()[-1] in llm.prompt
        assert not HARM.search(stays(answer)), (kind, payload)
        assert not shares_words(stays(answer), rules_told(llm)), (kind, payload)


@pytest.mark.parametrize("attack", planted())
def test_nothing_is_ever_shown_of_what_a_page_made_the_model_write(server: Server, llm: FakeLLM, attack: str) -> None:
    for kind, payload, answer in answers(server, llm, attack):
        if kind not in {"figure", "decision"}:  # which are only known for what they are when a sentence ends
            assert not HARM.search(answer.text), (kind, payload)
            assert not shares_words(answer.text, rules_told(llm)), (kind, payload)


def answers(server: Server, llm: FakeLLM, attack: str) -> Iterator[tuple[str, str, Answer]]:
    """(kind, payload, answer) of a new conversation for each thing that an obedient model may write."""
    AssistantFactory()
    plant(attack)
    llm.says_words(f"{FACT} [1]")
    with server.connect() as tab:
        tab.answer(QUESTION)
        for kind, payload in repeated(attack, rules_told(llm)):
            llm.says_words(f"{FACT} [1] {payload}")
            tab.conversation = str(uuid.uuid4())
            yield kind, payload, tab.answer(QUESTION)


@needs_data_sets
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_connections_end_with_their_work")
def test_no_attack_of_a_public_collection_gets_through_the_pipeline(llm: FakeLLM) -> None:
    groups = json.loads((FOLDER / "security" / "indirect-injection-train.json").read_text())
    attacks = [attack for group in groups.values() for attack in group]
    plant("\n\n".join(attacks[:5]))
    assert FACT in reply_to(llm, "").text
    for attack, turn in zip(attacks, itertools.count(), strict=False):
        ways = list(repeated(attack, rules_told(llm)))
        kind, payload = ways[turn % len(ways)]  # every attack, every way several times
        text = reply_to(llm, payload).text
        assert not HARM.search(text), (kind, payload)
        assert not shares_words(text, rules_told(llm)), (kind, payload)
