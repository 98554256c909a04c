"""Retrieval profiles in the admin: what is built in stays, what is made is checked, and who may do it."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from chat.models import RetrievalProfile
from chat.pipeline.question import profile_for
from chat.pipeline.retrieval.profiles import PROFILES, get_profile
from chat.services.profiles import delete_profile, save_profile
from tests.factories import AssistantFactory, CollectionFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = reverse("admin:chat_retrievalprofile_changelist")
ADD = reverse("admin:chat_retrievalprofile_add")


def url_of(profile: RetrievalProfile, what: str = "change") -> str:
    return reverse(f"admin:chat_retrievalprofile_{what}", args=[profile.pk])


def built_in(name: str = "default") -> RetrievalProfile:
    return RetrievalProfile.objects.get(name=name)


def form(*legs: tuple[str, float], **changes: Any) -> dict[str, Any]:
    values = {
        "name": "ours",
        "fusion": "scores",
        "rerank_first": 0,
        "protect_faqs": "on",
        "sources": 6,
        "threshold": 0.4,
        "legs-TOTAL_FORMS": len(legs),
        "legs-INITIAL_FORMS": 0,
    }
    for number, (retriever, weight) in enumerate(legs):
        values |= {f"legs-{number}-retriever": retriever, f"legs-{number}-weight": weight, f"legs-{number}-k": 50}
    return values | changes


def made(client: Client, *legs: tuple[str, float], **changes: Any) -> RetrievalProfile:
    response = client.post(ADD, form(*(legs or [("lexical", 1.0), ("dense", 2.0)]), **changes))
    assert response.status_code == 302, response.context["errors"]
    return RetrievalProfile.objects.get(is_built_in=False)


def test_a_profile_is_made_with_its_retrievers_and_retrieves_by_them(admin_client: Client) -> None:
    made(admin_client, ("lexical", 1.0), ("dense", 2.0), threshold=0.25)
    profile = get_profile("ours")
    assert [(leg.retriever.origin, leg.weight, leg.k) for leg in profile.legs] == [("lexical", 1, 50), ("dense", 2, 50)]
    assert profile.threshold == 0.25


def test_its_retrievers_are_changed_and_removed(admin_client: Client) -> None:
    profile = made(admin_client)
    first, second = profile.legs.all()
    values = form(("dense-sentence", 3.0), ("dense", 2.0), **{"legs-INITIAL_FORMS": 2, "legs-1-DELETE": "on"})
    values |= {
        "legs-0-id": first.pk,
        "legs-0-profile": profile.pk,
        "legs-1-id": second.pk,
        "legs-1-profile": profile.pk,
    }
    assert admin_client.post(url_of(profile), values).status_code == 302
    assert [(leg.retriever, leg.weight) for leg in profile.legs.all()] == [("dense-sentence", 3.0)]


@pytest.mark.parametrize(
    ("legs", "changes", "said"),
    [
        ([], {}, "Choose at least one retriever"),
        ([("lexical", 0.0), ("dense", 0.0)], {}, "Every weight is 0"),
        ([("faq", 1.0), ("faq-hard", 1.0)], {}, "Several FAQ retrievers at once"),
        ([("lexical", 1.0), ("lexical", 1.0)], {}, "duplicate"),
        ([("lexical", 1.0)], {"name": "<script>alert(1)</script>"}, "Small letters, digits"),
        ([("lexical", 1.0)], {"name": "default"}, "already exists"),
        ([("lexical", 1.0)], {"threshold": 1.5}, "less than or equal to 1"),
    ],
)
def test_a_profile_that_cannot_work_is_refused_by_name(
    admin_client: Client, legs: list[tuple[str, float]], changes: dict[str, Any], said: str
) -> None:
    page = admin_client.post(ADD, form(*legs, **changes))
    assert page.status_code == 200
    assert said in page.content.decode()
    assert not RetrievalProfile.objects.filter(is_built_in=False).exists()


@pytest.mark.parametrize(
    ("legs", "changes", "said"),
    [
        ([("lexical", 1.0)], {"rerank_first": 20}, "It reranks, but no reranking model is set up"),
        ([("hyde", 1.0)], {}, "HyDE needs a language model"),
    ],
)
def test_what_this_server_lacks_is_warned_of_and_saved(
    admin_client: Client, legs: list[tuple[str, float]], changes: dict[str, Any], said: str
) -> None:
    page = admin_client.post(ADD, form(*legs, **changes), follow=True)
    assert [message.level_tag for message in page.context["messages"]] == ["warning", "success"]
    assert said in page.content.decode()
    assert said in admin_client.get(url_of(RetrievalProfile.objects.get(is_built_in=False))).content.decode()


def test_nothing_is_warned_of_where_the_server_has_it(admin_client: Client, settings: Settings) -> None:
    settings.RERANKER_MODEL = "a-cross-encoder"
    page = admin_client.post(ADD, form(("lexical", 1.0), rerank_first=20), follow=True)
    assert [message.level_tag for message in page.context["messages"]] == ["success"]


def test_a_built_in_profile_is_read_only_in_every_way(admin_client: Client) -> None:
    page = admin_client.get(url_of(built_in())).content.decode()
    assert "This profile is built in" in page
    assert 'name="_save"' not in page
    assert admin_client.post(url_of(built_in()), form(("lexical", 1.0))).status_code == 403
    assert admin_client.post(url_of(built_in(), "delete"), {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [built_in().pk], "post": "yes"}
    admin_client.post(LIST, action)
    assert built_in().legs.count() == len(PROFILES["default"].legs)
    with pytest.raises(ValidationError, match="Built-in"):
        save_profile(profile=built_in(), legs=list(built_in().legs.all()))
    with pytest.raises(ValidationError, match="Built-in"):
        delete_profile(profile=built_in())


def test_a_built_in_profile_is_copied_and_the_copy_opened(admin_client: Client) -> None:
    for name in ("default-copy", "default-copy-2"):
        response = admin_client.post(url_of(built_in(), "clone"))
        copy = RetrievalProfile.objects.get(name=name)
        assert response["Location"] == url_of(copy)
    assert get_profile("default-copy").plan == PROFILES["default"].plan
    assert built_in().is_built_in
    assert 'name="_save"' in admin_client.get(url_of(copy)).content.decode()


def test_one_in_use_can_be_renamed_but_not_deleted(admin_client: Client) -> None:
    profile = made(admin_client)
    assistant = AssistantFactory(name="Lindi", profile=profile)
    first, second = profile.legs.all()
    values = form(("lexical", 1.0), ("dense", 2.0), name="better", **{"legs-INITIAL_FORMS": 2})
    values |= {
        "legs-0-id": first.pk,
        "legs-0-profile": profile.pk,
        "legs-1-id": second.pk,
        "legs-1-profile": profile.pk,
    }
    assert admin_client.post(url_of(profile), values).status_code == 302
    assistant.refresh_from_db()
    assert profile_for(assistant).name == "better"
    assert "Lindi" in admin_client.get(url_of(profile, "delete")).content.decode()
    admin_client.post(url_of(profile, "delete"), {"post": "yes"})
    with pytest.raises(ValidationError, match="used by Lindi"):
        delete_profile(profile=profile)
    assistant.profile = None
    assistant.save()
    admin_client.post(url_of(profile, "delete"), {"post": "yes"})
    assert not RetrievalProfile.objects.filter(pk=profile.pk).exists()


def assistant_form(**changes: Any) -> dict[str, Any]:
    told = {"languages": ["en"], "temperature": 0.1, "strictness": "strict"}
    told |= {"emergency_contacts-TOTAL_FORMS": "0", "emergency_contacts-INITIAL_FORMS": "0"}
    told |= {"kind_examples-TOTAL_FORMS": "0", "kind_examples-INITIAL_FORMS": "0"}
    return {"slug": "lindi", "name": "Lindi", "institution": "the University of Example"} | told | changes


def test_an_assistant_cannot_be_given_a_profile_that_cannot_answer(admin_client: Client) -> None:
    url = reverse("admin:chat_assistant_add")
    page = admin_client.post(url, assistant_form(profile=built_in("bm25+dense+rerank").pk))
    assert "reranks, but no reranking model is set up" in page.content.decode()
    assert admin_client.post(url, assistant_form(profile=built_in("bm25").pk)).status_code == 302


def test_a_profile_in_use_cannot_begin_to_rerank_without_a_model(admin_client: Client) -> None:
    profile = made(admin_client)
    AssistantFactory(name="Lindi", profile=profile)
    first, second = profile.legs.all()
    values = form(("lexical", 1.0), ("dense", 2.0), rerank_first=20, **{"legs-INITIAL_FORMS": 2})
    values |= {
        "legs-0-id": first.pk,
        "legs-0-profile": profile.pk,
        "legs-1-id": second.pk,
        "legs-1-profile": profile.pk,
    }
    page = admin_client.post(url_of(profile), values)
    assert "Lindi could no longer answer" in page.content.decode()
    profile.refresh_from_db()
    assert profile.rerank_first == 0


@pytest.mark.parametrize(
    ("permission", "method", "what", "status"),
    [
        ("add_retrievalprofile", "post", "clone", 302),
        ("change_retrievalprofile", "post", "clone", 403),
        ("view_retrievalprofile", "post", "clone", 403),
        ("view_retrievalprofile", "get", "change", 200),
        ("view_retrievalprofile", "post", "change", 403),
        ("view_assistant", "get", "change", 403),
        ("change_retrievalprofile", "get", "clone", 405),
    ],
)
def test_who_may_do_what(client: Client, permission: str, method: str, what: str, status: int) -> None:
    client.force_login(UserFactory(permissions=[f"chat.{permission}"]))
    profile = save_profile(profile=RetrievalProfile(name="ours"), legs=list(built_in().legs.all()))
    assert getattr(client, method)(url_of(profile, what)).status_code == status


def test_who_may_change_profiles_may_change_their_retrievers(client: Client) -> None:
    client.force_login(UserFactory(permissions=[f"chat.{name}_retrievalprofile" for name in ("add", "change", "view")]))
    assert made(client).legs.count() == 2


def test_a_profile_leads_to_trying_and_evaluating_it(admin_client: Client) -> None:
    page = admin_client.get(url_of(built_in("bm25+dense"))).content.decode()
    assert f'href="{reverse("try-question")}?profile=bm25%2Bdense"' in page
    assert f'href="{reverse("admin:analytics_evaluationrun_add")}?profiles=bm25%2Bdense"' in page
    tried = admin_client.get(reverse("try-question"), {"profile": "bm25+dense"}).content.decode()
    assert '<option value="bm25+dense" selected>' in tried


def test_the_list_takes_as_many_queries_for_20_profiles_as_for_2(admin_client: Client) -> None:
    counts = []
    for more in (2, 18):
        for _ in range(more):
            admin_client.post(url_of(built_in(), "clone"))
            AssistantFactory(profile=RetrievalProfile.objects.filter(is_built_in=False).latest("pk"))
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(LIST).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_data_set_s_collection_is_offered_for_a_trial_only_where_the_address_names_it(admin_client: Client) -> None:
    DocumentFactory(collection=CollectionFactory(slug="data-set", for_evaluation=True))
    url = reverse("try-question")
    assert 'value="data-set"' not in admin_client.get(url).content.decode()
    form = admin_client.get(url, {"question": "", "collection": "data-set"}).context["form"]
    assert "collection" not in form.errors
    assert "collection" in admin_client.get(url, {"question": "", "collection": "none"}).context["form"].errors


def test_what_a_built_in_profile_is_for_is_said_in_german_too(admin_client: Client) -> None:
    german = {"accept-language": "de"}
    page = admin_client.get(reverse("admin:chat_retrievalprofile_changelist"), headers=german).content.decode()
    assert "Nur Wörter." in page
    built_in = RetrievalProfile.objects.get(name="bm25")
    page = admin_client.get(reverse("admin:chat_retrievalprofile_change", args=[built_in.pk]), headers=german)
    assert "Nur Wörter." in page.content.decode()
