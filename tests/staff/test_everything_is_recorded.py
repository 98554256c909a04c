"""Whatever a member of staff changes stands in the audit log: every page of the admin, and every action of its lists.

What is new and changes something without an entry fails here, and so does what changes nothing here and is not named.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from tests.factories import UserFactory
from tests.staff.matrix.doors import doors, knock, screens
from tests.staff.matrix.table import ACTIONS
from tests.staff.matrix.world import World, make_world

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(\w+)"')
LOG = "django_admin_log"
#: Who looks at what just now, and how far the queue of reviews is filled: nobody's deed.
PASSING = {"marcelcms_staffsession", "analytics_reader", "analytics_reviewfeed"}
#: It fills the queue of reviews with what students rated meanwhile; and what only tries a change takes it back.
NO_DEEDS = {"analytics_review_changelist GET", "impact-document POST"}
#: They stop what goes on; the test of that is below.
STOPPED = {"knowledge_crawlrun_stop POST", "analytics_evaluationrun_cancel POST"}
#: What is sent here is not enough for them to do anything, or they only show something; tests of their own have those
#: that write. Django's forms, which put themselves on record, are sent empty here.
IDLE = {
    *("analytics_evaluationquestion_review_one POST", "analytics_gap_draft POST", "analytics_gap_phrasings POST"),
    *("analytics_review_undo POST", "analytics_shadowtest_start POST", "faqs_faq_import POST", "faqs_faq_near POST"),
    *("language-model-start POST", "language-model-stop POST"),
    *("chat_experiment_start POST", "chat_experiment_stop POST", "chat_experiment_take_back POST"),
    *(
        "why-answer POST",
        "logout POST",
        "chat_heldbacksentence_judge POST",
        "shadow-faq POST",
        "analytics_evaluationset_propose POST",
    ),
    *("chat_promptversion_draft_preview POST", "chat_promptversion_preview POST"),
    *("chat_assistant_delete POST", "knowledge_collection_delete POST", "analytics_review_reading POST"),
    "faq-reading POST",
    *("chat_case_pass_on POST", "chat_case_reading POST", "chat_case_draft POST", "chat_case_several POST"),
    *("my-login POST", "second-factor-reset POST", "passkey-remove POST", "my-sessions-end POST", "sessions-end POST"),
    *("analytics_gap_reading POST", "invite-again POST", "knowledge_course_import POST"),
    "knowledge_course_proposals POST",
    "knowledge_document_original POST",
    *STOPPED,
}
#: They find nothing to do: the rows are so already, or cannot be deleted.
IDLE_ACTIONS = {
    *("analytics_evaluationquestion accept", "analytics_gap open_again", "faqs_faq back_to_draft"),
    *("analytics_report delete_selected", "chat_assistant delete_selected", "knowledge_collection delete_selected"),
    *("knowledge_document publish", "knowledge_document read_again"),
}


@pytest.fixture
def member(monkeypatch: pytest.MonkeyPatch) -> User:
    cache.clear()
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", Mock())
    monkeypatch.setattr("celery.app.task.Task.apply_async", Mock())
    user: User = UserFactory(is_superuser=True)
    return user


@pytest.fixture
def own(member: User) -> World:
    return make_world("Faculty of Law", member, mark="Law")


@pytest.fixture
def client(member: User) -> Client:
    client = Client()
    client.force_login(member)
    return client


@contextmanager
def tables_written() -> Iterator[set[str]]:
    """Return the tables of rows that were really there."""
    written: set[str] = set()

    def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        done = execute(sql, params, many, context)
        if context["cursor"].rowcount:
            written.update(set(WRITES.findall(sql)) - PASSING)
        return done

    with connection.execute_wrapper(noted):
        yield written


def test_what_a_page_changes_is_on_record(client: Client, own: World) -> None:
    idle, silent = set(), {}
    for door in doors():
        with tables_written() as written:
            response = knock(client, door, door.address(own), own)
        if written and LOG not in written and door.title not in NO_DEEDS:
            silent[door.title] = written
        is_form = door.name.endswith("_change") or response.status_code == 403
        if door.method == "POST" and not written and not is_form:
            idle.add(door.title)
    assert silent == {}
    assert idle == IDLE


def test_what_an_action_of_a_list_changes_is_on_record(client: Client, own: World) -> None:
    idle, silent = set(), {}
    opened = {screen: reverse(f"admin:{screen}_changelist") for screen in screens()}
    for name in ACTIONS:
        screen, action = name.split(" ")
        sent = {"action": action, "_selected_action": [str(own.rows[screen].pk)], "post": "yes"}
        with tables_written() as written, transaction.atomic():
            client.post(opened[screen], sent)
            transaction.set_rollback(True)
        if not written:
            idle.add(name)
        elif LOG not in written:
            silent[name] = written
    assert silent == {}
    assert idle == IDLE_ACTIONS


def test_what_is_stopped_is_on_record(client: Client, own: World) -> None:
    for name in ("knowledge_crawlrun", "analytics_evaluationrun"):
        row = own.rows[name]
        row.state = row.State.RUNNING
        row.save()
    for door in doors():
        if door.title in STOPPED:
            with tables_written() as written:
                knock(client, door, door.address(own), own)
            assert {door.screen, LOG} <= written
