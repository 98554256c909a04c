"""Deliveries: signed, once, again if they are not accepted, and never to where they may not go."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from chat import tasks
from chat.models import Webhook, WebhookDelivery, WebhookEvent
from chat.services.webhooks import change_webhook, send_again, send_test
from chat.webhooks import delivery as delivering
from chat.webhooks.announce import announce
from chat.webhooks.delivery import claim, delete_old, deliver_due, due_webhooks
from tests.chat.webhooks.hooks import deliver_later, hook_for, make_due, verify
from tests.chat.webhooks.receiver import Receiver, one_after_another, receiving, status
from tests.factories import AssistantFactory

pytestmark = pytest.mark.django_db

Off, State = Webhook.Off, WebhookDelivery.State


def happened(webhook: Webhook, key: str = "1") -> WebhookDelivery:
    """Announce an event to the webhook."""
    assistant = webhook.assistants.get()
    announce(WebhookEvent.FAQ_PUBLISHED, key=key, assistants=[assistant.pk], data={"faq": 1})
    return webhook.deliveries.latest("pk")


@pytest.fixture
def hook(receiver: Receiver) -> Webhook:
    webhook, secret = hook_for(receiver.url, AssistantFactory(slug="study"))
    webhook.known = secret  # type: ignore[attr-defined]
    return webhook


def test_an_event_arrives_signed(hook: Any, receiver: Receiver) -> None:
    delivery = happened(hook)
    deliver_due(hook.pk)
    (got,) = receiver.got
    event = verify(hook.known, got)
    assert event == {
        "id": str(delivery.event_id),
        "type": "faq.published",
        "timestamp": event["timestamp"],
        "data": {"assistants": ["study"], "faq": 1},
    }
    assert got.headers["content-type"] == "application/json"
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_status) == (State.DELIVERED, 1, 204)
    assert delivery.next_attempt_at is None
    assert delivery.finished_at


def test_the_secret_is_kept_encrypted(hook: Any) -> None:
    hook.refresh_from_db()
    assert hook.known.startswith("whsec_")
    assert hook.known not in hook.secret
    assert hook.known[6:20] not in hook.secret


def test_a_receiver_that_was_away_gets_the_same_event_when_it_is_back(trusted: Path) -> None:
    with receiving(trusted) as gone:
        webhook, secret = hook_for(gone.url, AssistantFactory())
    delivery = happened(webhook)
    for attempts in (1, 2, 3):
        make_due(webhook)
        deliver_due(webhook.pk)
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts, delivery.problem) == (State.WAITING, attempts, "unreachable")
    webhook.refresh_from_db()
    assert webhook.failing_since
    with receiving(trusted, port=gone.port) as back:
        deliver_later(webhook, after=timedelta(hours=1))
        (got,) = back.got
    assert verify(secret, got)["id"] == str(delivery.event_id)
    assert got.body.decode() == delivery.body
    delivery.refresh_from_db()
    webhook.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.problem) == (State.DELIVERED, 4, "")
    assert webhook.failing_since is None


def test_waits_grow_from_seconds_to_a_day_and_the_last_attempt_fails(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = status(500)
    delivery = happened(hook)
    waits = []
    for _ in range(7):
        make_due(hook)
        deliver_due(hook.pk)
        delivery.refresh_from_db()
        waits.append((delivery.next_attempt_at - timezone.now()).total_seconds())
    assert [round(wait) for wait in waits] == [
        pytest.approx(wait, rel=0.15, abs=2) for wait in (5, 300, 1800, 7200, 18000, 36000, 86400)
    ]
    make_due(hook)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_status) == (State.FAILED, 8, 500)
    assert delivery.next_attempt_at is None
    make_due(hook)
    deliver_due(hook.pk)
    assert len(receiver.got) == 8
    hook.refresh_from_db()
    assert hook.is_active  # it has failed for a moment, not for days


def test_what_is_not_due_is_not_sent(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = one_after_another(status(500), status(204))
    happened(hook)
    deliver_due(hook.pk)
    deliver_due(hook.pk)
    assert len(receiver.got) == 1


def test_one_event_is_one_row_a_webhook_however_often_it_is_announced(hook: Webhook) -> None:
    other, _secret = hook_for("https://other.uni.example/", hook.assistants.get())
    for _ in range(3):
        happened(hook)
    assert (hook.deliveries.count(), other.deliveries.count()) == (1, 1)
    assert hook.deliveries.get().event_id == other.deliveries.get().event_id


def test_only_active_webhooks_that_take_the_event_of_the_assistant_get_it(hook: Webhook) -> None:
    study = hook.assistants.get()
    hook_for("https://a.uni.example/", study, is_active=False)
    hook_for("https://a.uni.example/", study, events=["answer.abstained"])
    hook_for("https://a.uni.example/", AssistantFactory())
    happened(hook)
    assert WebhookDelivery.objects.get().webhook == hook


def test_a_webhook_is_told_of_its_own_assistants_only(hook: Webhook, receiver: Receiver) -> None:
    study, law = hook.assistants.get(), AssistantFactory(slug="law")
    announce(WebhookEvent.FAQ_PUBLISHED, key="x", assistants=[law.pk, study.pk], data={})
    deliver_due(hook.pk)
    assert b'"assistants":["study"]' in receiver.got[0].body


def test_gone_switches_it_off_and_ends_what_waits(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = status(410)
    first, second = happened(hook, "1"), happened(hook, "2")
    deliver_due(hook.pk)
    hook.refresh_from_db()
    assert (hook.is_active, hook.off_because) == (False, Off.GONE)
    assert len(receiver.got) == 1
    for delivery in (first, second):
        delivery.refresh_from_db()
        assert delivery.state == State.FAILED
    assert list(Webhook.objects.turned_off_by_itself()) == [hook]


def test_a_webhook_that_fails_for_days_is_switched_off(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = status(500)
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=3, hours=1))
    happened(hook, "1")
    deliver_due(hook.pk)
    hook.refresh_from_db()
    assert hook.is_active  # every event gets all its attempts
    hook.deliveries.update(attempts=7)
    make_due(hook)
    happened(hook, "2")
    deliver_due(hook.pk)
    hook.refresh_from_db()
    assert (hook.is_active, hook.off_because) == (False, Off.FAILING)
    assert set(hook.deliveries.values_list("state", flat=True)) == {State.FAILED}


def test_switched_on_again_it_begins_anew(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = one_after_another(status(410), status(204))
    happened(hook, "1")
    deliver_due(hook.pk)
    hook.refresh_from_db()
    hook.is_active = True
    change_webhook(webhook=hook)
    hook.refresh_from_db()
    assert (hook.off_because, hook.failing_since) == ("", None)
    happened(hook, "2")
    deliver_due(hook.pk)
    assert len(receiver.got) == 2  # and what ended meanwhile is not sent


def test_switched_off_by_staff_it_keeps_nothing_waiting(hook: Webhook, receiver: Receiver) -> None:
    delivery = happened(hook)
    hook.is_active = False
    change_webhook(webhook=hook)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    hook.refresh_from_db()
    assert (delivery.state, hook.off_because, receiver.got) == (State.FAILED, Off.STAFF, [])
    assert not Webhook.objects.turned_off_by_itself().exists()


def test_a_redirect_is_a_failure(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = status(301, Location=f"{receiver.url}/elsewhere")
    delivery = happened(hook)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.last_status, len(receiver.got)) == (State.WAITING, 301, 1)


def test_a_private_address_is_not_sent_to_unless_the_operator_allows_it(
    hook: Webhook, receiver: Receiver, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = False
    delivery = happened(hook)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert (delivery.problem, delivery.last_status, receiver.got) == ("address", None, [])
    with pytest.raises(ValidationError):
        hook_for(receiver.url)
    hook_for("https://93.184.216.34/")


def test_with_another_secret_key_it_is_switched_off(hook: Webhook, receiver: Receiver, settings: Settings) -> None:
    happened(hook)
    settings.SECRET_KEY = "another"
    deliver_due(hook.pk)
    hook.refresh_from_db()
    assert (hook.is_active, hook.off_because, receiver.got) == (False, Off.SECRET, [])


def test_a_silent_receiver_costs_one_attempt_a_run(trusted: Path) -> None:
    with receiving(trusted) as gone:
        webhook, _secret = hook_for(gone.url, AssistantFactory())
    for number in range(5):
        happened(webhook, str(number))
    assert deliver_due(webhook.pk) is not None  # the first failure: look again in seconds
    assert webhook.deliveries.filter(attempts=1).count() == 1
    assert deliver_due(webhook.pk) is None
    assert webhook.deliveries.filter(attempts=1).count() == 2


def test_one_event_that_is_refused_holds_up_no_other(hook: Webhook, receiver: Receiver) -> None:
    receiver.reply = one_after_another(status(400), *[status(204)] * 3)
    for number in range(4):
        happened(hook, str(number))
    deliver_due(hook.pk)
    assert hook.deliveries.filter(state=State.DELIVERED).count() == 3


# --- workers ---


def test_a_worker_that_died_leaves_nothing_lost(hook: Webhook, receiver: Receiver) -> None:
    delivery = happened(hook)
    assert claim(hook.pk) == delivery  # and now this worker is dead
    assert claim(hook.pk) is None
    deliver_due(hook.pk)
    assert due_webhooks() == []
    assert receiver.got == []
    make_due(hook)  # a minute later
    assert due_webhooks() == [hook.pk]
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, len(receiver.got)) == (State.DELIVERED, 2, 1)


def test_a_worker_taken_for_dead_writes_nothing_over_its_successor(
    hook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = happened(hook)
    late = claim(hook.pk)
    assert late
    make_due(hook)
    deliver_due(hook.pk)
    delivering._record(late, delivering.Reply(500))
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (State.DELIVERED, 2)


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_nothing_twice(hook: Webhook, receiver: Receiver) -> None:
    for number in range(20):
        happened(hook, str(number))
    begin = threading.Barrier(4)

    def work() -> None:
        begin.wait()
        for _ in range(10):
            deliver_due(hook.pk)
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ids = [got.headers["webhook-id"] for got in receiver.got]
    assert len(ids) == len(set(ids)) == 20
    assert set(hook.deliveries.values_list("state", "attempts")) == {(State.DELIVERED, 1)}


def test_what_is_due_is_queued_a_webhook_once_and_not_for_ever(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    queued = Mock()
    monkeypatch.setattr(tasks.deliver_webhook, "apply_async", queued)
    for number in range(3):
        happened(hook, str(number))
    tasks.deliver_due_webhooks()
    queued.assert_called_once_with((hook.pk,), expires=60.0)


def test_the_first_retry_is_queued_in_seconds(
    hook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued = Mock()
    monkeypatch.setattr(tasks.deliver_webhook, "apply_async", queued)
    receiver.reply = one_after_another(status(500), status(500), status(204))
    happened(hook)
    tasks.deliver_webhook(hook.pk)
    assert 4 < queued.call_args.kwargs["countdown"] < 6
    queued.reset_mock()
    make_due(hook)
    tasks.deliver_webhook(hook.pk)
    queued.assert_not_called()  # the next wait is minutes


def test_an_event_is_queued_after_the_commit(
    hook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued = Mock()
    monkeypatch.setattr(tasks.deliver_webhook, "delay", queued)
    with django_capture_on_commit_callbacks(execute=True):
        happened(hook)
        queued.assert_not_called()
    queued.assert_called_once_with(hook.pk)


# --- staff ---


def test_a_test_event_is_sent_to_this_webhook_alone(hook: Any, receiver: Receiver) -> None:
    hook_for("https://other.uni.example/", hook.assistants.get())
    send_test(webhook=hook)
    deliver_due(hook.pk)
    event = verify(hook.known, receiver.got[0])
    assert (event["type"], event["data"]) == ("test", {"assistants": ["study"]})
    assert WebhookDelivery.objects.get().state == State.DELIVERED


def test_sent_again_an_event_keeps_its_id_and_gets_all_its_attempts(hook: Any, receiver: Receiver) -> None:
    receiver.reply = one_after_another(status(500), status(204))
    delivery = happened(hook)
    hook.deliveries.update(attempts=7)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert delivery.state == State.FAILED
    send_again(delivery=delivery)
    with pytest.raises(ValidationError):
        send_again(delivery=delivery)
    deliver_due(hook.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (State.DELIVERED, 1)
    assert {verify(hook.known, got)["id"] for got in receiver.got} == {str(delivery.event_id)}
    Webhook.objects.update(is_active=False)
    delivery.webhook.refresh_from_db()
    with pytest.raises(ValidationError):
        send_again(delivery=delivery)
    with pytest.raises(ValidationError):
        send_test(webhook=delivery.webhook)


def test_deliveries_are_deleted_after_30_days(hook: Webhook) -> None:
    kept, old = happened(hook, "1"), happened(hook, "2")
    WebhookDelivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=30, minutes=1))
    WebhookDelivery.objects.filter(pk=kept.pk).update(created_at=timezone.now() - timedelta(days=29))
    assert delete_old() == 1
    assert WebhookDelivery.objects.get() == kept


def test_ids_differ_from_server_to_server(hook: Webhook, settings: Settings) -> None:
    first = happened(hook).event_id
    settings.PUBLIC_URL = "https://another.uni.example"
    assert happened(hook).event_id != first
    assert uuid4() != first
