"""The life cycle of every kind of background job: claimed once, kept alive, cancelled, found again when it was lost."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone
from django.utils.module_loading import import_string

from analytics.models import EvaluationRun, EvaluationSet, GapRun, ModelTrial, ShadowTest, StoredReport
from core.jobs import INTERNAL_ERROR, Heartbeat, Job, JobState, JobStopped
from knowledge.models import CrawlRun, Source
from marcelcms.tasks import requeue_lost_jobs
from tests.factories import AssistantFactory, CollectionFactory, UserFactory
from tests.servers import wait_until

pytestmark = pytest.mark.django_db


def evaluation(**values: Any) -> EvaluationRun:
    run: EvaluationRun = EvaluationRun.objects.create(
        evaluation_set=EvaluationSet.objects.create(name="Ours"), profile="bm25", **values
    )
    return run


def shadow_test(**values: Any) -> ShadowTest:
    test: ShadowTest = ShadowTest.objects.create(
        kind="faq", target_id=1, title="A change", draft={}, base="", assistant=AssistantFactory(), **values
    )
    return test


def report(**values: Any) -> StoredReport:
    stored: StoredReport = StoredReport.objects.create(
        name="Fees", definition={}, requested_by=UserFactory(), language="en", **values
    )
    return stored


def gap_run(**values: Any) -> GapRun:
    run: GapRun = GapRun.objects.create(**values)
    return run


def crawl(**values: Any) -> CrawlRun:
    source = Source.objects.create(name="Site", collection=CollectionFactory(), start_urls=["https://www.uni.example/"])
    run: CrawlRun = CrawlRun.objects.create(source=source, **values)
    return run


def model_trial(**values: Any) -> ModelTrial:
    trial: ModelTrial = ModelTrial.objects.create(assistant=AssistantFactory(), model="small", wanted=12, **values)
    return trial


Make = Callable[..., Any]
KINDS: dict[type[Job], Make] = {
    EvaluationRun: evaluation,
    ShadowTest: shadow_test,
    StoredReport: report,
    GapRun: gap_run,
    CrawlRun: crawl,
    ModelTrial: model_trial,
}
#: What becomes of a job whose worker died, and whether the same one, another one or none is queued.
RECOVERED: dict[type[Job], tuple[str, str]] = {
    EvaluationRun: ("failed", "none"),
    ShadowTest: ("queued", "same"),
    StoredReport: ("queued", "same"),
    GapRun: ("queued", "same"),
    CrawlRun: ("interrupted", "another"),
    ModelTrial: ("queued", "same"),
}


@pytest.fixture(params=KINDS.values(), ids=[kind.__name__ for kind in KINDS])
def make(request: pytest.FixtureRequest) -> Make:
    found: Make = request.param
    return found


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stand in for the queues; get what is queued."""
    delay = Mock()
    for kind in KINDS:
        monkeypatch.setattr(import_string(kind.TASK), "delay", delay)
    return delay


def lost(kind: type[Job]) -> dict[str, Any]:
    """Return what a running job is like whose worker died."""
    return {"state": JobState.RUNNING, "heartbeat_at": timezone.now() - kind.LOST_AFTER - timedelta(seconds=1)}


def test_every_kind_of_job_is_tested_here() -> None:
    assert {model for model in apps.get_models() if issubclass(model, Job)} == set(KINDS)


def test_one_task_looks_after_all_of_them() -> None:
    scheduled = [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]
    assert scheduled.count(requeue_lost_jobs.name) == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_claim_a_job_once(make: Make) -> None:
    job = make()
    both, claimed = threading.Barrier(2), []

    def work() -> None:
        try:
            mine = type(job).objects.get(pk=job.pk)
            both.wait(10)
            claimed.append(mine.claim())
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(claimed) == [False, True]
    job.refresh_from_db()
    assert (job.state, job.heartbeat_at is None) == ("running", False)


def test_a_job_that_was_cancelled_before_it_began_is_never_worked_on(make: Make) -> None:
    job = make()
    assert job.cancel()
    import_string(job.TASK)(job.pk)
    job.refresh_from_db()
    assert (job.state, job.finished_at is None) == ("cancelled", False)
    assert not job.cancel()


def test_a_running_job_is_cancelled_and_its_worker_stops(make: Make) -> None:
    job = make()
    assert job.claim()
    with job.closing(), Heartbeat(job) as heartbeat:
        heartbeat.beat()
        assert type(job).objects.get(pk=job.pk).cancel()
        heartbeat.beat(at_once=True)
        pytest.fail("the worker went on")
    job.refresh_from_db()
    # A crawl's worker saves its counts before it ends the crawl itself.
    assert (job.state, job.is_cancelled) == ("running" if isinstance(job, CrawlRun) else "cancelled", True)


def test_a_worker_that_goes_on_with_a_job_is_not_taken_for_the_lost_one(queued: Mock) -> None:
    job = gap_run(**lost(GapRun))
    with Heartbeat(job):
        requeue_lost_jobs()
    queued.assert_not_called()


def test_the_error_of_a_job_that_was_cancelled_is_not_its_end() -> None:
    job = evaluation()
    job.claim()
    EvaluationRun.objects.get().cancel()
    assert not job.fail("late")
    assert EvaluationRun.objects.get().state == "cancelled"


def test_progress_is_written_once_a_second_at_most(make: Make) -> None:
    job = make()
    job.claim()
    heartbeat = Heartbeat(job)
    heartbeat.beat()
    type(job).objects.update(state="cancelled")
    heartbeat.beat()  # nothing is asked within the second
    heartbeat._written -= Heartbeat.SECONDS
    with pytest.raises(JobStopped):
        heartbeat.beat()


@pytest.mark.parametrize("kind", [each for each in KINDS if each is not CrawlRun])
def test_whatever_ends_the_work_ends_the_job(kind: type[Job]) -> None:
    job = KINDS[kind]()
    job.claim()
    with job.closing(ValueError):
        raise ValueError("The model is away.")
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "The model is away.")
    job.requeue(message="")
    job.claim()
    with pytest.raises(ZeroDivisionError), job.closing(ValueError):
        raise ZeroDivisionError("secret words")
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", INTERNAL_ERROR)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_whose_worker_died_is_settled_once(kind: type[Job], queued: Mock) -> None:
    job = KINDS[kind](**lost(kind))
    requeue_lost_jobs()
    requeue_lost_jobs()
    job.refresh_from_db()
    state, what = RECOVERED[kind]
    assert job.state == state
    if what == "none":
        queued.assert_not_called()
    else:
        other = kind._default_manager.exclude(pk=job.pk).first() if what == "another" else job
        assert other
        queued.assert_called_once_with(other.pk)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_whose_worker_lives_is_left_to_it(kind: type[Job], queued: Mock) -> None:
    job = KINDS[kind](state=JobState.RUNNING, heartbeat_at=timezone.now() - kind.LOST_AFTER / 2)
    requeue_lost_jobs()
    job.refresh_from_db()
    assert job.state == "running"
    queued.assert_not_called()


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_whose_worker_died_before_the_clock_was_set_back_is_not_left_for_so_long(
    kind: type[Job], queued: Mock
) -> None:
    job = KINDS[kind](state=JobState.RUNNING, heartbeat_at=timezone.now() + timedelta(hours=1))
    requeue_lost_jobs()
    job.refresh_from_db()
    assert job.state != "running"


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_that_the_broker_never_got_is_queued_again_but_not_every_minute(kind: type[Job], queued: Mock) -> None:
    job = KINDS[kind]()
    requeue_lost_jobs()
    queued.assert_not_called()  # it has only just been queued
    kind._default_manager.update(created_at=timezone.now() - kind.UNBEGUN_AFTER)
    requeue_lost_jobs()
    requeue_lost_jobs()
    queued.assert_called_once_with(job.pk)
    kind._default_manager.update(heartbeat_at=timezone.now() - kind.REQUEUED_EVERY)
    requeue_lost_jobs()
    assert queued.call_count == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.django_db(transaction=True)
def test_a_long_step_is_not_taken_for_a_lost_worker(
    kind: type[Job], queued: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "LOST_AFTER", timedelta(seconds=4))
    job = KINDS[kind]()
    job.claim()
    with Heartbeat(job):
        stale = timezone.now() - timedelta(hours=1)
        kind._default_manager.update(heartbeat_at=stale)
        wait_until(lambda: kind._default_manager.filter(heartbeat_at__gt=stale).exists(), 20)
        requeue_lost_jobs()
    job.finish()
    queued.assert_not_called()
    assert kind._default_manager.get().state == "finished"  # type: ignore[attr-defined]


def test_a_database_that_is_away_for_a_moment_ends_no_heartbeat(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[int] = []
    again = threading.Event()

    def update(*_: object, **__: object) -> None:
        beats.append(1)
        if len(beats) == 1:
            raise OperationalError("the connection is closed")
        again.set()

    job = gap_run(state=JobState.RUNNING)
    monkeypatch.setattr(GapRun, "LOST_AFTER", timedelta(seconds=1))
    with Heartbeat(job):
        monkeypatch.setattr("django.db.models.QuerySet.update", update)
        assert again.wait(30)
    assert "OperationalError" in caplog.text
