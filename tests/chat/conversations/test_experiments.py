"""Conversations that an experiment splits, and what their answers are made with."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from chat.conversations.opening import StartedAnswer, open_question
from chat.conversations.visitors import new_visitor
from chat.models import Assistant, Conversation, Experiment, PromptVersion, RetrievalProfile
from chat.models.experiments import Arm, arm_of
from chat.prompt_template import BUILT_IN
from tests.factories import AssistantFactory, CollectionFactory

pytestmark = pytest.mark.django_db


def running(assistant: Assistant, **values: Any) -> Experiment:
    made: Experiment = Experiment.objects.create(
        assistant=assistant, name="More evidence", state="running", **{"evidence_needed": 0.9, "share": 50, **values}
    )
    return made


def of_arm(experiment: Experiment, arm: str) -> uuid.UUID:
    """Return the id of a conversation that falls to an arm."""
    ids = (uuid.uuid4() for _ in range(1000))
    return next(each for each in ids if arm_of(experiment.pk, experiment.share, each) == arm)


def ask(conversation: uuid.UUID, visitor: uuid.UUID | None = None) -> StartedAnswer:
    return open_question(
        visitor=visitor or new_visitor(),
        conversation=conversation,
        client_id=uuid.uuid4(),
        text="How much is the fee?",
        language="en",
    )


def test_conversations_are_split_by_the_share_and_always_alike() -> None:
    ids = [uuid.UUID(int=number) for number in range(4000)]
    arms = [arm_of(7, 20, each) for each in ids]
    assert arms == [arm_of(7, 20, each) for each in ids]
    assert 700 < arms.count(Arm.OTHER) < 900
    assert arms != [arm_of(8, 20, each) for each in ids]


def test_an_answer_of_the_other_arm_is_made_with_its_settings() -> None:
    profile = RetrievalProfile.objects.create(name="words-only", sources=3)
    profile.legs.create(retriever="lexical")
    prompt = PromptVersion.objects.create(comment="Short", system="Be short, {institution}.", question="{question}")
    assistant = AssistantFactory()
    assistant.collections.add(CollectionFactory(slug="all-of-it"))
    tried = running(assistant, profile=profile, prompt=prompt, model="other-7b", evidence_needed=0.7)
    tried.collections.add(CollectionFactory(slug="fees"))
    other, now = ask(of_arm(tried, "other")).ask, ask(of_arm(tried, "now")).ask
    assert (other.profile.name, other.profile.threshold, other.profile.sources) == ("words-only", 0.7, 3)
    assert (other.template.name, other.sampling.model, list(other.collections)) == (prompt.name, "other-7b", ["fees"])
    assert (now.profile.name, now.template.name, now.sampling.model) == ("default", BUILT_IN.name, "")
    assert list(now.collections) == ["all-of-it"]
    assistant.refresh_from_db()
    assert (assistant.profile, assistant.evidence_needed) == (None, None)


def test_the_arm_stays_with_the_conversation_and_an_edit_of_the_settings_is_seen() -> None:
    tried = running(AssistantFactory())
    conversation, visitor = of_arm(tried, "other"), new_visitor()
    first = ask(conversation, visitor)
    first.reply.status = "complete"
    first.reply.save()
    Experiment.objects.update(share=1, evidence_needed=0.8)
    assert ask(conversation, visitor).ask.profile.threshold == 0.8
    row = Conversation.objects.get(pk=conversation)
    assert (row.experiment, row.arm) == (tried, "other")


def test_once_it_has_ended_everybody_is_answered_as_now() -> None:
    tried = running(AssistantFactory())
    conversation, visitor = of_arm(tried, "other"), new_visitor()
    first = ask(conversation, visitor)
    assert first.ask.profile.threshold == 0.9
    first.reply.status = "complete"
    first.reply.save()
    Experiment.objects.update(state="ended")
    assert ask(conversation, visitor).ask.profile.threshold == 0.4
    assert ask(of_arm(tried, "other")).ask.profile.threshold == 0.4
    assert Conversation.objects.exclude(experiment=None).count() == 1


def test_a_conversation_that_began_before_takes_no_part() -> None:
    assistant = AssistantFactory()
    conversation, visitor = uuid.uuid4(), new_visitor()
    first = ask(conversation, visitor)
    first.reply.status = "complete"
    first.reply.save()
    running(assistant, share=99)
    assert ask(conversation, visitor).ask.profile.threshold == 0.4
    assert Conversation.objects.get().experiment is None


def test_an_assistant_has_one_running_experiment() -> None:
    assistant = AssistantFactory()
    running(assistant)
    with pytest.raises(IntegrityError), transaction.atomic():
        running(assistant)
    running(AssistantFactory())
