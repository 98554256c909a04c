"""Whose an evaluation set is."""

import pytest
from django.contrib.auth.models import Group

from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet
from tests.analytics.rows import add_question, finished_run, new_set
from tests.factories import AssistantFactory, CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Group:
    group: Group = Group.objects.create(name="Faculty of Law")
    return group


def own_sets(team: Group) -> list[EvaluationSet]:
    """With them, their questions and runs are one's own."""
    member = UserFactory(teams=[team])
    sets = list(EvaluationSet.objects.visible_to(member))
    for model in (EvaluationQuestion, EvaluationRun):
        assert {row.evaluation_set for row in model.objects.visible_to(member)} <= set(sets)
        assert model.objects.visible_to(member).count() == model.objects.filter(evaluation_set__in=sets).count()
    return sets


def test_a_set_belongs_to_the_teams_of_any_collection_that_it_searches(team: Group) -> None:
    own, foreign = CollectionFactory(), CollectionFactory()
    own.teams.add(team)
    ours, others, nobodys = new_set("Ours"), new_set("Others'"), new_set("Nobody's")
    nobodys.collections.clear()
    ours.collections.set([own, foreign])
    others.collections.set([foreign])
    for each in (ours, others, nobodys):
        finished_run(each)
    assert own_sets(team) == [ours]
    assert EvaluationSet.objects.visible_to(UserFactory()).count() == 3


def test_a_regression_set_belongs_to_its_assistant_alone_for_its_questions_are_that_ones_students(team: Group) -> None:
    shared, own = CollectionFactory(), AssistantFactory()
    shared.teams.add(team)
    own.teams.add(team)
    theirs, ours = new_set("Theirs", assistant=AssistantFactory()), new_set("Ours", assistant=own)
    theirs.collections.set([shared])
    ours.collections.set([CollectionFactory()])
    add_question(theirs)
    assert own_sets(team) == [ours]
