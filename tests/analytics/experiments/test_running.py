"""Experiments from their start to what came of them, on conversations that became something."""

import datetime
import uuid
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.utils import timezone

from analytics.experiments.adoption import adopt_experiment, take_back_experiment
from analytics.experiments.services import (
    describe_arms,
    foresee,
    start_experiment,
    stop_experiment,
)
from analytics.models import ExperimentCount
from analytics.retention.run import apply_retention
from analytics.tasks import draw_samples, look_at_experiments
from chat.models import Assistant, Conversation, Experiment, Feedback, Message, PromptVersion, RetrievalProfile
from chat.services.profiles import delete_profile
from chat.services.prompts import delete_version
from tests.factories import (
    AnswerFactory,
    APIClientFactory,
    AssistantFactory,
    CollectionFactory,
    ConversationFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def draft(assistant: Assistant | None = None, **values: Any) -> Experiment:
    made: Experiment = Experiment.objects.create(
        assistant=assistant or AssistantFactory(), name="More evidence", **{"evidence_needed": 0.6, **values}
    )
    return made


def running(assistant: Assistant | None = None, **values: Any) -> Experiment:
    """Return one that began ten days ago, planned for so few conversations that a test can have them."""
    made = draft(assistant, **values)
    made.state, made.needed, made.began_with = "running", values.get("needed", 60), describe_arms(made)
    made.started_at = timezone.now() - datetime.timedelta(days=10)
    made.save()
    return made


def said(
    assistant: Assistant,
    count: int = 1,
    *,
    tried: Experiment | None = None,
    arm: str = "",
    status: str = "complete",
    thumbs: int = 0,
    days_ago: float = 5,
) -> list[Message]:
    """Have conversations of one question each, by visitors of their own."""
    answers = []
    for _ in range(count):
        conversation = ConversationFactory(assistant=assistant, experiment=tried, arm=arm)
        answer = AnswerFactory(question__conversation=conversation, status=status, route="question", evidence=0.5)
        if thumbs:
            Feedback.objects.create(message=answer, value=thumbs)
        answers.append(answer)
    at = timezone.now() - datetime.timedelta(days=days_ago)
    ids = [each.conversation_id for each in answers]
    Conversation.objects.filter(pk__in=ids).update(created_at=at, updated_at=at)
    Message.objects.filter(conversation__in=ids).update(created_at=at)
    return answers


def fill(tried: Experiment, now: tuple[int, int], other: tuple[int, int], **values: Any) -> None:
    """Have conversations of both arms: so many that were answered, and so many that were not."""
    for arm, (good, bad) in (("now", now), ("other", other)):
        said(tried.assistant, good, tried=tried, arm=arm, **values)
        said(tried.assistant, bad, tried=tried, arm=arm, status="abstained", **values)


# --- before it starts ---


def test_the_plan_rests_on_what_became_of_the_last_weeks_without_programs() -> None:
    tried = draft()
    said(tried.assistant, 30)
    said(tried.assistant, 10, status="abstained")
    program = APIClientFactory(assistants=[tried.assistant])
    Conversation.objects.create(id=uuid.uuid4(), assistant=tried.assistant, visitor=program.visitor)
    outlook = foresee(tried)
    assert (outlook.baseline, outlook.is_known) == (0.75, True)
    assert outlook.a_day == pytest.approx(40 / 28)
    assert outlook.days is not None
    assert outlook.is_too_long
    assert not foresee(draft(tried.assistant, least_difference=30)).is_too_long


def test_without_conversations_it_would_never_end_and_is_not_started() -> None:
    tried = draft()
    assert foresee(tried).days is None
    with pytest.raises(ValidationError, match="longer than a year"):
        start_experiment(experiment=tried, by=UserFactory())


def test_a_start_fixes_the_plan_and_what_both_arms_are() -> None:
    tried, member = draft(least_difference=30), UserFactory()
    said(tried.assistant, 40)
    start_experiment(experiment=tried, by=member)
    tried.refresh_from_db()
    assert (tried.state, tried.started_by, tried.baseline) == ("running", member, 1.0)
    assert tried.needed
    assert tried.began_with["other"]["profile"]["threshold"] == 0.6
    with pytest.raises(ValidationError, match="started before"):
        start_experiment(experiment=tried, by=member)
    with pytest.raises(ValidationError, match="Another experiment"):
        start_experiment(experiment=draft(tried.assistant), by=member)


@pytest.mark.parametrize("values", [{"evidence_needed": None}, {"evidence_needed": 0.4}])
def test_arms_that_are_the_same_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Both arms are the same"):
        start_experiment(experiment=draft(**values), by=UserFactory())


def test_another_model_where_none_writes_is_refused() -> None:
    assistant = AssistantFactory(uses_model=False)
    with pytest.raises(ValidationError, match="No language model writes"):
        start_experiment(experiment=draft(assistant, evidence_needed=None, model="other-7b"), by=UserFactory())


# --- while it runs ---


def test_settled_days_are_counted_once_and_outlive_their_conversations() -> None:
    tried = running(needed=100_000)
    fill(tried, (8, 2), (5, 5))
    said(tried.assistant, 3, tried=tried, arm="other", days_ago=0.5)
    look_at_experiments()
    counts = {each.arm: each for each in ExperimentCount.objects.filter(experiment=tried)}
    assert (counts["now"].conversations, counts["now"].helped, counts["now"].abstained) == (10, 8, 2)
    assert (counts["other"].conversations, counts["other"].answered, counts["other"].newcomers) == (10, 5, 0)
    Conversation.objects.filter(created_at__lt=timezone.now() - datetime.timedelta(days=2)).delete()
    look_at_experiments()
    assert ExperimentCount.objects.filter(experiment=tried).count() == 2


def test_a_conversation_is_counted_by_what_became_of_it() -> None:
    tried = running(needed=100_000)
    said(tried.assistant, 1, tried=tried, arm="now", thumbs=1)
    said(tried.assistant, 1, tried=tried, arm="now", thumbs=-1)
    said(tried.assistant, 1, tried=tried, arm="now", status="failed")
    help_me = said(tried.assistant, 1, tried=tried, arm="now")
    Message.objects.filter(conversation=help_me[0].conversation).update(route="crisis")
    look_at_experiments()
    row = ExperimentCount.objects.get()
    assert (row.conversations, row.helped, row.disliked, row.failed, row.abstained) == (3, 1, 1, 1, 0)


def test_conversations_that_are_deleted_sooner_are_counted_before() -> None:
    tried = running(AssistantFactory(keep_conversations_days=1), needed=100_000)
    fill(tried, (2, 1), (3, 0), days_ago=1.5)
    apply_retention()
    assert not Conversation.objects.exists()
    assert sum(each.conversations for each in ExperimentCount.objects.all()) == 6


def test_a_clear_difference_ends_it_and_a_fixed_plan_waits_for_its_end() -> None:
    sequential, fixed = running(), running(rule="fixed", needed=1000)
    for tried in (sequential, fixed):
        fill(tried, (10, 20), (30, 0))
    look_at_experiments()
    sequential.refresh_from_db()
    fixed.refresh_from_db()
    assert (sequential.state, sequential.ending) == ("ended", "other")
    assert (fixed.state, fixed.ending) == ("running", "")


def test_without_a_difference_it_ends_without_a_winner() -> None:
    tried = running(rule="fixed")
    fill(tried, (20, 10), (20, 10))
    look_at_experiments()
    tried.refresh_from_db()
    assert tried.ending == "none"


@pytest.mark.parametrize(
    ("ending", "values"),
    [("abstained", {"status": "abstained"}), ("failed", {"status": "failed"}), ("disliked", {"thumbs": -1})],
)
def test_a_guard_rail_ends_the_other_arm_within_the_hour(ending: str, values: dict[str, Any]) -> None:
    member = UserFactory()
    tried = running(rule="fixed", needed=100_000, started_by=member)
    said(tried.assistant, 40, tried=tried, arm="now", days_ago=0.1)
    said(tried.assistant, 40, tried=tried, arm="other", days_ago=0.1, **values)
    look_at_experiments()
    tried.refresh_from_db()
    assert (tried.state, tried.ending) == ("ended", ending)
    assert sum(each.conversations for each in ExperimentCount.objects.all()) == 80
    entry = LogEntry.objects.get(user=member, object_id=str(tried.pk))
    assert entry.get_change_message() == f"Ended by itself: {tried.get_ending_display()}"
    with pytest.raises(ValidationError, match="guard rail"):
        adopt_experiment(experiment=tried)


def test_settings_that_change_meanwhile_end_it() -> None:
    profile = RetrievalProfile.objects.create(name="words-only")
    profile.legs.create(retriever="lexical")
    by_assistant, by_profile = running(), running(profile=profile)
    look_at_experiments()
    assert Experiment.objects.running().count() == 2
    Assistant.objects.filter(pk=by_assistant.assistant_id).update(evidence_needed=0.5)
    RetrievalProfile.objects.filter(pk=profile.pk).update(sources=2)
    look_at_experiments()
    assert set(Experiment.objects.values_list("ending", flat=True)) == {"changed"}
    assert not Experiment.objects.exclude(pk__in=[by_assistant.pk, by_profile.pk]).exists()


def test_a_sampled_answer_of_the_other_arm_has_the_evidence_that_was_needed_there() -> None:
    tried = running()
    answer = said(tried.assistant, 1, tried=tried, arm="other", days_ago=1)[0]
    noon = timezone.make_aware(
        datetime.datetime.combine(timezone.localdate() - datetime.timedelta(days=1), datetime.time(12))
    )
    Message.objects.filter(pk=answer.pk).update(created_at=noon)
    draw_samples()
    answer.refresh_from_db()
    assert answer.sampled.threshold == 0.6


# --- at its end ---


def test_staff_end_it_and_adopt_what_was_tried() -> None:
    collection = CollectionFactory()
    profile = RetrievalProfile.objects.create(name="words-only")
    profile.legs.create(retriever="lexical")
    tried = running(profile=profile, model="other-7b")
    tried.collections.add(collection)
    Experiment.objects.filter(pk=tried.pk).update(began_with=describe_arms(tried))
    with pytest.raises(ValidationError, match="has ended"):
        adopt_experiment(experiment=tried)
    stop_experiment(experiment=tried)
    with pytest.raises(ValidationError, match="not running"):
        stop_experiment(experiment=tried)
    assistant, changed = adopt_experiment(experiment=tried)
    assistant.refresh_from_db()
    assert (assistant.profile, assistant.model, assistant.evidence_needed) == (profile, "other-7b", 0.6)
    assert list(assistant.collections.all()) == [collection]
    assert set(changed) == {"profile", "model", "evidence_needed", "collections"}
    tried.refresh_from_db()
    assert (tried.ending, tried.adopted_at is None) == ("stopped", False)


def adopted(**values: Any) -> Experiment:
    """Return an experiment whose other arm was adopted."""
    tried = running(**values)
    stop_experiment(experiment=tried)
    adopt_experiment(experiment=tried)
    return tried


def test_what_was_adopted_is_taken_back_whole_and_may_be_adopted_again() -> None:
    before, after = CollectionFactory(), CollectionFactory()
    former = RetrievalProfile.objects.create(name="as-before")
    former.legs.create(retriever="lexical")
    assistant = AssistantFactory(profile=former, model="first-7b", evidence_needed=None)
    assistant.collections.add(before)
    profile = RetrievalProfile.objects.create(name="words-only")
    profile.legs.create(retriever="lexical")
    tried = running(assistant, profile=profile, model="other-7b")
    tried.collections.add(after)
    Experiment.objects.filter(pk=tried.pk).update(began_with=describe_arms(tried))
    with pytest.raises(ValidationError, match="Only adopted settings"):
        take_back_experiment(experiment=tried)
    stop_experiment(experiment=tried)
    for _each in range(2):
        adopt_experiment(experiment=tried)
        with pytest.raises(ValidationError, match="are adopted"):
            adopt_experiment(experiment=tried)
        assistant.refresh_from_db()
        assert (assistant.profile, list(assistant.collections.all())) == (profile, [after])
        _assistant, changed = take_back_experiment(experiment=tried)
        assert set(changed) == {"profile", "model", "evidence_needed", "collections"}
        assistant.refresh_from_db()
        assert (assistant.profile, assistant.model, assistant.evidence_needed) == (former, "first-7b", None)
        assert list(assistant.collections.all()) == [before]
    with pytest.raises(ValidationError, match="Only adopted settings"):
        take_back_experiment(experiment=tried)


def test_what_somebody_changed_since_is_not_taken_back() -> None:
    tried = adopted()
    Assistant.objects.filter(pk=tried.assistant_id).update(evidence_needed=0.7)
    with pytest.raises(ValidationError, match="still has all of them"):
        take_back_experiment(experiment=tried)
    Assistant.objects.filter(pk=tried.assistant_id).update(evidence_needed=0.6, persona="Somebody else")
    take_back_experiment(experiment=tried)  # what the experiment is not about may change


def test_nothing_is_taken_back_if_a_setting_from_before_is_deleted_meanwhile() -> None:
    former = RetrievalProfile.objects.create(name="as-before")
    former.legs.create(retriever="lexical")
    assistant = AssistantFactory(profile=former)
    profile = RetrievalProfile.objects.create(name="words-only")
    profile.legs.create(retriever="lexical")
    tried = adopted(assistant=assistant, profile=profile)
    former.delete()
    with pytest.raises(ValidationError, match="deleted meanwhile"):
        take_back_experiment(experiment=tried)
    assistant.refresh_from_db()
    assert (assistant.profile, assistant.evidence_needed) == (profile, 0.6)


def test_what_is_deleted_meanwhile_is_not_half_adopted() -> None:
    collection = CollectionFactory()
    tried = draft()
    tried.collections.add(collection)
    Experiment.objects.filter(pk=tried.pk).update(state="running", began_with=describe_arms(tried))
    stop_experiment(experiment=tried)
    collection.delete()
    with pytest.raises(ValidationError, match="deleted meanwhile"):
        adopt_experiment(experiment=tried)
    assert Assistant.objects.get(pk=tried.assistant_id).evidence_needed is None


def test_a_profile_and_instructions_that_an_experiment_tries_are_not_deleted() -> None:
    profile = RetrievalProfile.objects.create(name="words-only")
    prompt = PromptVersion.objects.create(comment="Short", system="{institution}", question="{question}")
    tried = draft(profile=profile, prompt=prompt)
    with pytest.raises(ValidationError, match="is used by More evidence"):
        delete_profile(profile=profile)
    with pytest.raises(ValidationError, match="is used by More evidence"):
        delete_version(version=prompt)
    tried.delete()
    delete_profile(profile=profile)
    delete_version(version=prompt)


def test_the_experiments_of_a_deleted_assistant_go_with_it() -> None:
    tried = running()
    said(tried.assistant, 1, tried=tried, arm="now")
    tried.assistant.delete()
    look_at_experiments()
    assert not Experiment.objects.exists()
    assert Conversation.objects.get().experiment is None
