"""A server process of its own: no database connection is held while the model thinks."""

import time
from contextlib import ExitStack

import pytest
from django.db import connection

from chat.models import Message
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import server_process, wait_until

STATES = """
SELECT state, count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' GROUP BY state
"""


def states() -> dict[str, int]:
    """Return how many connections of the server are in which state."""
    with connection.cursor() as cursor:
        cursor.execute(STATES)
        return dict(cursor.fetchall())


@pytest.mark.slow
@pytest.mark.usefixtures("transactional_db", "pages")
def test_twelve_askers_on_two_connections_leave_room_for_others_while_the_model_is_silent(llm: FakeLLM) -> None:
    llm.hangs()
    ready = states()
    environment = {"LLM_BASE_URL": llm.base_url, "LLM_MODEL": "fake", "LLM_FIRST_TOKEN_SECONDS": "60"}
    environment["LLM_CONCURRENCY"] = "12"
    with server_process(DATABASE_POOL="2", **environment) as server, ExitStack() as stack:
        tabs = [stack.enter_context(server.connect()) for _ in range(12)]
        for tab in tabs:
            tab.ask(QUESTION)
        wait_until(lambda: len(llm.requests) == 12, 30)  # so all were retrieved for

        time.sleep(0.5)
        assert sum(states().values()) - sum(ready.values()) <= 2
        assert set(states()) == {"idle"}
        with server.connect() as visitor:
            visitor.resume()
            assert visitor.next()["type"] == "conversation"
            assert visitor.answer("Wie backe ich einen Apfelkuchen mit Zimt?").end["status"] == "abstained"
        assert Message.objects.filter(status="generating").count() == 12

        llm.says("It is 318.40 euros [1].")
        llm.release()
        # A model that closes without a word is asked again.
        assert {tab.until("message_end")[-1]["status"] for tab in tabs} == {"complete"}
    assert Message.objects.filter(role="assistant", status="complete").count() == 12
