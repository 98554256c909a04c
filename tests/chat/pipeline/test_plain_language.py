"""An answer in plain language: what is not proven stands as it was."""

import json
from collections.abc import Callable

import pytest

from chat.models import Citation, Message
from chat.pipeline.plain_language import find_statements, simplify
from chat.pipeline.verification.classifier import Strictness
from core.inference.llm.client import EXACT
from tests.chat.api_client import Client
from tests.chat.candidates import candidate
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server

FEE = "The semester contribution is 318.40 euros each semester."
LATE = "Students who pay after the deadline pay a late fee of 10 euros."
PAGE = f"{FEE} {LATE} The library is open until midnight."
TEXT = f"{FEE} [1]\n\n- {LATE} [1]"


def statements(*texts: str) -> Callable[[str], str]:
    return lambda _asked: json.dumps({"statements": texts})


def test_statements_end_at_their_numbers() -> None:
    found = list(find_statements("“One. Two.” [1] Three [2].\n\n- four\n\n| A | B |\n\n**Name**"))
    assert [(each.said, each.numbers) for each in found] == [("One. Two.", (1,)), ("Three", (2,)), ("four", (2,))]


@pytest.mark.parametrize(
    ("written", "expected", "changed"),
    [
        ("The contribution is 318.40 euros each semester.", "The contribution is 318.40 euros each semester. [1]", 1),
        ("The semester contribution is 418.40 euros.", f"{FEE} [1]", 0),
        ("You pay a semester contribution.", f"{FEE} [1]", 0),  # the figure is gone
        ("You do not pay the semester contribution of 318.40 euros.", f"{FEE} [1]", 0),
        ("The semester contribution is 318.40 euros. Pay it at the sports hall.", f"{FEE} [1]", 0),
        ("", f"{FEE} [1]", 0),
    ],
)
async def test_only_what_the_passage_proves_is_shown(llm: FakeLLM, written: str, expected: str, changed: int) -> None:
    llm.completes(statements(written, LATE))
    page = candidate(text=PAGE, title="Fees")
    plain = await simplify(TEXT, [page], language="en", strictness=Strictness.STRICT, sampling=EXACT, caller="somebody")
    assert plain.text == f"{expected}\n\n- {LATE} [1]"
    assert (plain.changed, plain.kept) == (changed, 2 - changed)


async def test_an_answer_that_is_not_the_asked_form_changes_nothing(llm: FakeLLM) -> None:
    llm.completes(lambda _asked: '{"statements": ["one"]}')
    plain = await simplify(
        TEXT, [candidate(text=PAGE)], language="en", strictness=Strictness.STRICT, sampling=EXACT, caller="somebody"
    )
    assert plain.text == TEXT


@pytest.mark.usefixtures("pages")
def test_the_visitor_gets_it_with_the_same_numbers(server: Server, llm: FakeLLM) -> None:
    llm.says_words("The semester contribution is 318.40 euros each semester [1].")
    client, other = Client.begin(server), Client.begin(server)
    answer = client.ask(QUESTION)
    assert Message.objects.get(pk=answer.message).strategy == "generated"
    assert Citation.objects.filter(message=answer.message).exists()
    llm.completes(statements("The semester contribution is 318.40 euros."))
    plain = client.post(f"/api/v1/messages/{answer.message}/plain", {}).json
    assert plain["changed"] + plain["kept"] == 1
    assert plain["text"].endswith("[1].")
    assert other.post(f"/api/v1/messages/{answer.message}/plain", {}).status == 404
    llm.fails(500)
    refused = client.post(f"/api/v1/messages/{answer.message}/plain", {})
    assert (refused.status, refused.json["code"]) == (422, "model_unavailable")
