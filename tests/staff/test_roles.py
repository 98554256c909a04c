import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from chat.models import Assistant, Conversation
from faqs.models import FAQ
from knowledge.models import Collection, Document
from marcelcms.accounts.roles import ADMINISTRATOR, ANALYST, CURATOR, REVIEWER, ROLES, WHOLE_UNIVERSITY, make_roles
from tests.factories import (
    AssistantFactory,
    CollectionFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def roles():
    """Create the roles: a test with transactions of its own may have emptied the tables before."""
    make_roles()
    return {group.name: group for group in Group.objects.all()}


@pytest.fixture
def law():
    return Group.objects.create(name="Faculty of Law")


@pytest.fixture
def curator(roles, law):
    return UserFactory(teams=[roles[CURATOR], law])


def test_each_role_is_a_group(roles):
    assert set(roles) >= {CURATOR, REVIEWER, ANALYST, ADMINISTRATOR, WHOLE_UNIVERSITY}
    assert all(roles[name].permissions.exists() for name in ROLES)


def test_what_an_administrator_took_on_stays_when_roles_are_made_again(roles):
    roles[ANALYST].permissions.add(*roles[REVIEWER].permissions.all())
    before = roles[ANALYST].permissions.count()
    make_roles()
    assert roles[ANALYST].permissions.count() == before


def test_a_curator_works_on_what_their_teams_look_after(curator, law):
    own = CollectionFactory(name="Law")
    own.teams.add(law)
    mine, foreign = DocumentFactory(collection=own), DocumentFactory()
    assert set(Collection.objects.visible_to(curator)) == {own}
    assert list(Document.objects.visible_to(curator)) == [mine]
    assert foreign not in Document.objects.visible_to(curator)


def test_faqs_and_conversations_belong_to_teams_too(curator, law):
    own, assistant = CollectionFactory(), AssistantFactory()
    own.teams.add(law)
    assistant.teams.add(law)
    faq, said = FAQFactory(collection=own), ConversationFactory(assistant=assistant)
    FAQFactory(collection=None)
    ConversationFactory(assistant=AssistantFactory())
    assert list(FAQ.objects.visible_to(curator)) == [faq]
    assert list(Assistant.objects.visible_to(curator)) == [assistant]
    assert list(Conversation.objects.visible_to(curator)) == [said]


def test_without_a_team_there_is_nothing_to_see(roles):
    DocumentFactory()
    assert not Document.objects.visible_to(UserFactory(teams=[roles[CURATOR]])).exists()


def test_the_whole_universitys_staff_see_everything(roles):
    DocumentFactory.create_batch(2)
    everybody = UserFactory(teams=[roles[CURATOR], roles[WHOLE_UNIVERSITY]])
    assert Document.objects.visible_to(everybody).count() == 2


def test_somebody_of_two_teams_sees_each_row_once(curator, law):
    own = CollectionFactory()
    second = Group.objects.create(name="Library")
    own.teams.add(law, second)
    curator.groups.add(second)
    document = DocumentFactory(collection=own)
    assert list(Document.objects.visible_to(curator)) == [document]


def test_another_teams_document_cannot_be_opened_changed_or_deleted(client, curator, law):
    foreign = DocumentFactory(title="Theirs")
    client.force_login(curator)
    for name in ("change", "delete", "history"):
        answer = client.get(reverse(f"admin:knowledge_document_{name}", args=[foreign.pk]), follow=True)
        assert "Theirs" not in answer.content.decode()
    client.post(reverse("admin:knowledge_document_delete", args=[foreign.pk]), {"post": "yes"})
    assert Document.objects.filter(pk=foreign.pk).exists()


def test_a_document_cannot_be_moved_into_another_teams_collection(client, curator, law):
    own, theirs = CollectionFactory(), CollectionFactory(name="Theirs")
    own.teams.add(law)
    document = DocumentFactory(collection=own)
    client.force_login(curator)
    url = reverse("admin:knowledge_document_change", args=[document.pk])
    page = client.get(url).content.decode()
    assert "Theirs" not in page
    data = {"title": "x", "url": document.url, "language": "en", "status": "draft", "text": "x"}
    assert client.post(url, data | {"collection": theirs.pk}).status_code == 200
    document.refresh_from_db()
    assert document.collection == own


def test_only_who_sees_everything_says_which_teams_look_after_a_collection(client, curator, law):
    own = CollectionFactory(slug="law", name="Law")
    own.teams.add(law)
    client.force_login(curator)
    url = reverse("admin:knowledge_collection_change", args=[own.pk])
    client.post(url, {"name": "Law", "slug": "law", "teams": [], "granularities": []})
    assert list(own.teams.all()) == [law]
    assert client.get(reverse("admin:knowledge_collection_add")).status_code == 403


def test_a_role_is_not_offered_as_a_team(client, roles, law):
    roles[ANALYST].collections.add(CollectionFactory())  # a team with permissions keeps its place
    client.force_login(UserFactory(teams=[roles[ADMINISTRATOR], roles[WHOLE_UNIVERSITY]]))
    page = client.get(reverse("admin:knowledge_collection_change", args=[CollectionFactory().pk]))
    offered = page.context["adminform"].form.fields["teams"].queryset
    assert [group.name for group in offered] == [ANALYST, law.name]


def test_an_administrator_does_not_make_a_superuser_nor_change_one(client, roles):
    root, lindi = UserFactory(is_superuser=True), UserFactory(username="lindi")
    client.force_login(UserFactory(teams=[roles[ADMINISTRATOR]]))
    url = reverse("admin:auth_user_change", args=[lindi.pk])
    assert 'name="is_superuser"' not in client.get(url).content.decode()
    date = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00"}
    client.post(url, {"username": "lindi", "is_active": "on", "is_superuser": "on", **date})
    lindi.refresh_from_db()
    assert not lindi.is_superuser
    assert client.post(reverse("admin:auth_user_change", args=[root.pk]), {"username": "x"}).status_code == 403
