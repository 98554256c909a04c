"""Versions of FAQs, and whether an FAQ is still right."""

import datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from faqs.models import FAQ, FAQVersion
from faqs.services import merge_faqs, set_faq_status
from faqs.usage import Usage, count_usage
from knowledge.models import Document
from tests.factories import (
    AnswerFactory,
    CitationFactory,
    CollectionFactory,
    DocumentFactory,
    FAQFactory,
    FeedbackFactory,
    UserFactory,
)
from tests.faqs.forms import build_form, seen
from tests.sent import labels_on, preset_on

pytestmark = pytest.mark.django_db


def change_page(faq: FAQ) -> str:
    return reverse("admin:faqs_faq_change", args=[faq.pk])


def versions(faq: FAQ) -> list[tuple[str, str]]:
    """(reason, question), the oldest first."""
    return [(version.reason, version.content["question"]) for version in faq.versions.order_by("pk")]


# --- versions ---


def test_a_save_keeps_what_was_and_what_is_with_who_and_why(admin_client: Client, admin_user: Any) -> None:
    faq = FAQFactory(question="How much?", phrasings=["What does it cost?"])
    sent = build_form(faq, question="How much is it?", phrasings=["The price?"])
    assert admin_client.post(change_page(faq), sent).status_code == 302
    assert versions(faq) == [("found", "How much?"), ("form", "How much is it?")]
    last = faq.versions.first()
    assert last.made_by == admin_user
    assert last.content["phrasings"] == ["What does it cost?", "The price?"]


def test_a_save_without_a_change_makes_no_version(admin_client: Client) -> None:
    faq = FAQFactory(phrasings=["So?"])
    for _ in range(2):
        assert admin_client.post(change_page(faq), build_form(faq)).status_code == 302
    assert [reason for reason, _question in versions(faq)] == ["found"]


def test_a_new_faq_begins_with_a_version(admin_client: Client) -> None:
    sent = build_form(FAQFactory.build(question="New?"), phrasings=["Newer?"], documents=[DocumentFactory()])
    assert admin_client.post(reverse("admin:faqs_faq_add"), sent).status_code == 302
    version = FAQVersion.objects.get()
    assert (version.reason, version.content["phrasings"], len(version.content["sources"])) == ("form", ["Newer?"], 1)


def test_an_action_in_the_list_makes_a_version(admin_client: Client, admin_user: Any) -> None:
    faq = FAQFactory(documents=[DocumentFactory()])
    set_faq_status(faqs=[faq], status="published", by=admin_user)
    assert [version.content["status"] for version in faq.versions.all()] == ["published", "draft"]
    assert faq.versions.first().reason == "status"


def test_any_two_versions_are_compared(admin_client: Client) -> None:
    faq = FAQFactory(question="Old words?", documents=[DocumentFactory(title="Fees <b>")])
    admin_client.post(change_page(faq), build_form(faq, question="New words?"))
    old, new = faq.versions.order_by("pk")
    page = admin_client.get(reverse("admin:faqs_faq_versions", args=[faq.pk]), {"old": old.pk, "new": new.pk})
    text = page.content.decode()
    assert '<span class="diff__words">Old</span>' in text
    assert '<span class="diff__words">New</span>' in text
    assert "Fees <b>" not in text


def test_versions_of_one_minute_are_told_apart_and_the_last_change_is_preset(admin_client: Client) -> None:
    faq = FAQFactory(question="One?")
    for question in ("Two?", "Three?"):
        admin_client.post(change_page(faq), build_form(faq, question=question))
    page = admin_client.get(address := reverse("admin:faqs_faq_versions", args=[faq.pk]))
    assert [label.partition(" ")[0] for label in labels_on(page, "old")] == ["#3", "#2", "#1"]
    assert labels_on(page, "old")[0].endswith("– admin")
    compared = admin_client.get(address, preset_on(page))
    assert (compared.context["old"].content["question"], compared.context["new"]) == ("Two?", None)
    assert compared.context["comparison"].lines


def test_an_earlier_version_is_restored_as_a_new_one_and_the_status_stays(admin_client: Client) -> None:
    kept, gone = DocumentFactory(), DocumentFactory()
    faq = FAQFactory(question="Old?", phrasings=["a", "b"], documents=[kept, gone])
    admin_client.post(change_page(faq), build_form(faq, question="New?") | {"phrasings-0-DELETE": "on"})
    set_faq_status(faqs=[FAQ.objects.get(pk=faq.pk)], status="published")
    gone.delete()
    old = faq.versions.order_by("pk").first()
    assert admin_client.post(reverse("admin:faqs_faq_restore", args=[faq.pk, old.pk])).status_code == 302
    faq.refresh_from_db()
    assert (faq.question, faq.status) == ("Old?", "published")
    assert set(faq.phrasings.values_list("text", flat=True)) == {"a", "b"}
    assert list(faq.sources.values_list("document", flat=True)) == [kept.pk]
    assert faq.versions.first().reason == "restore"
    assert LogEntry.objects.filter(object_id=str(faq.pk)).count() == 2


def test_a_published_faq_is_not_restored_to_one_without_documents(admin_client: Client) -> None:
    gone, now = DocumentFactory(), DocumentFactory()
    faq = FAQFactory(question="Old?", documents=[gone])
    set_faq_status(faqs=[faq], status="published")
    old = faq.versions.first()
    admin_client.post(
        change_page(faq),
        build_form(faq, status="published", question="New?", documents=[now]) | {"sources-0-DELETE": "on"},
    )
    gone.delete()
    page = admin_client.post(reverse("admin:faqs_faq_restore", args=[faq.pk, old.pk]), follow=True)
    assert "None of that version" in page.content.decode()
    faq.refresh_from_db()
    assert faq.question == "New?"


def test_the_list_of_versions_takes_as_many_queries_for_30_as_for_3(admin_client: Client) -> None:
    faq, counts = FAQFactory(phrasings=["So?"], documents=[DocumentFactory()]), []
    for upto in (3, 30):
        for number in range(upto):
            set_faq_status(faqs=[faq], status=["draft", "in_review"][number % 2 == 0 and faq.status == "draft"])
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(reverse("admin:faqs_faq_versions", args=[faq.pk])).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


# --- still right? ---


def test_faqs_whose_documents_changed_are_found_and_confirmed(admin_client: Client) -> None:
    document = DocumentFactory(title="Fees")
    faq = FAQFactory(question="How much?", status="published", documents=[document])
    FAQFactory(question="Retired?", status="retired", documents=[document])
    Document.objects.filter(pk=document.pk).update(altered_at=timezone.now())
    assert list(FAQ.objects.with_changed_sources()) == [faq]
    listed = admin_client.get(reverse("admin:faqs_faq_changelist"), {"documents": "changed"}).content.decode()
    assert "How much?</a>" in listed
    assert "Retired?</a>" not in listed
    assert "Yes, still right" in admin_client.get(change_page(faq)).content.decode()
    assert admin_client.post(reverse("admin:faqs_faq_confirm", args=[faq.pk])).status_code == 302
    assert not FAQ.objects.with_changed_sources().exists()
    assert "Yes, still right" not in admin_client.get(change_page(faq)).content.decode()


def test_faqs_that_end_soon_are_found(admin_client: Client) -> None:
    today, day = timezone.localdate(), datetime.timedelta(days=1)
    for name, status, until in (
        ("Today", "published", today),
        ("Soon", "published", today + 14 * day),
        ("Later", "published", today + 15 * day),
        ("Draft", "draft", today),
        ("Over", "published", today - day),
    ):
        FAQFactory(question=name, status=status, valid_until=until)
    assert {faq.question for faq in FAQ.objects.expiring()} == {"Today", "Soon"}
    listed = admin_client.get(reverse("admin:faqs_faq_changelist"), {"valid": "soon"}).content.decode()
    assert {name for name in ("Today", "Soon", "Later", "Draft", "Over") if f">{name}</a>" in listed} == {
        "Today",
        "Soon",
    }


# --- translations ---


def test_a_translation_s_form_comes_with_what_it_shares(admin_client: Client) -> None:
    documents = DocumentFactory.create_batch(2)
    original = FAQFactory(question="How much?", collection=CollectionFactory(), documents=documents)
    page = admin_client.get(change_page(original))
    [missing] = page.context["missing_translations"]
    empty = admin_client.get(missing["url"])
    form, (_phrasings, sources) = empty.context["adminform"].form, empty.context["inline_admin_formsets"]
    assert form.initial["language"] == "de"
    assert str(form["translation_of"].value()) == str(original.pk)
    assert str(form["collection"].value()) == str(original.collection_id)
    shown = [form["document"].value() for form in sources.formset.forms]
    assert shown[:2] == [document.pk for document in documents]


def test_a_translation_is_named_where_the_original_changed_since(admin_client: Client) -> None:
    original = FAQFactory(question="How much?", language="en")
    german = FAQFactory(question="Wie viel?", language="de", translation_of=original)
    assert not FAQ.objects.behind_their_original().exists()
    admin_client.post(change_page(original), build_form(original, phrasings=["The price?"]))
    assert not FAQ.objects.behind_their_original().exists()  # it says the same
    admin_client.post(change_page(original), build_form(original, reference_answer="Five."))
    assert list(FAQ.objects.behind_their_original()) == [german]
    assert "older than the original" in admin_client.get(change_page(original)).content.decode()
    assert "Is it still right?" in admin_client.get(change_page(german)).content.decode()
    sent = build_form(german, translation_of=original.pk)
    assert admin_client.post(change_page(german), sent).status_code == 302
    assert not FAQ.objects.behind_their_original().exists()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "It is in the same language"),
        ("en-GB", "It is in the same language"),
        ("de", "There is a translation into this language already"),
    ],
)
def test_a_group_has_one_faq_a_language(admin_client: Client, language: str, said: str) -> None:
    original = FAQFactory(language="en")
    FAQFactory(language="de", translation_of=original)
    other = FAQFactory(language=language)
    page = admin_client.post(change_page(other), build_form(other, translation_of=original.pk))
    assert said in page.content.decode()


def test_a_translation_of_a_translation_is_refused(admin_client: Client) -> None:
    german = FAQFactory(language="de", translation_of=FAQFactory(language="en"))
    french = FAQFactory(language="fr")
    page = admin_client.post(change_page(french), build_form(french, translation_of=german.pk)).content.decode()
    assert "This FAQ is a translation itself" in page


# --- use ---


def test_the_use_of_an_faq_counts_the_last_30_days() -> None:
    document = DocumentFactory()
    faq = FAQFactory(documents=[document])
    cited, plain, old = AnswerFactory(faq=faq), AnswerFactory(faq=faq), AnswerFactory(faq=faq)
    type(old).objects.filter(pk=old.pk).update(created_at=timezone.now() - datetime.timedelta(days=31))
    CitationFactory(message=cited, document=document)
    CitationFactory(message=cited, document=document, n=2)
    CitationFactory(message=plain)
    FeedbackFactory(message=cited, value=1)
    FeedbackFactory(message=plain, value=-1)
    FeedbackFactory(message=old, value=-1)
    assert count_usage(faq) == Usage(matched=2, cited=1, up=1, down=1)


# --- teams and publishing ---


@pytest.fixture
def curator(client: Client) -> Client:
    """Of one team, which looks after the collection `own`; may not publish."""
    team = Group.objects.create(name="Faculty")
    CollectionFactory(slug="own", name="Own").teams.add(team)
    names = ["faqs.view_faq", "faqs.add_faq", "faqs.change_faq", "faqs.delete_faq", "knowledge.view_document"]
    client.force_login(UserFactory(permissions=names, teams=[team]))
    return client


def own() -> Any:
    return FAQ.collection.field.related_model.objects.get(slug="own")


def test_other_teams_faqs_are_not_there(curator: Client) -> None:
    foreign, mine = FAQFactory(question="Foreign?", collection=CollectionFactory()), FAQFactory(collection=own())
    assert "Foreign?" not in curator.get(reverse("admin:faqs_faq_changelist")).content.decode()
    assert curator.get(change_page(foreign)).status_code == 302
    page = curator.post(change_page(foreign), build_form(foreign, question="Taken?"))
    assert "This was deleted" in page.content.decode()  # as for one that is not there
    assert "Foreign?" not in page.content.decode()
    for name, args in (("versions", [foreign.pk]),):
        assert curator.get(reverse(f"admin:faqs_faq_{name}", args=args)).status_code == 404
    assert curator.post(reverse("admin:faqs_faq_confirm", args=[foreign.pk])).status_code == 404
    foreign.refresh_from_db()
    assert foreign.question == "Foreign?"
    assert not foreign.versions.exists()
    assert curator.get(change_page(mine)).status_code == 200


def test_a_team_s_faq_needs_one_of_its_collections(curator: Client) -> None:
    faq = FAQFactory.build(question="New?")
    page = curator.post(reverse("admin:faqs_faq_add"), build_form(faq))
    assert page.context["errors"]
    foreign = CollectionFactory()
    assert curator.post(reverse("admin:faqs_faq_add"), build_form(faq, collection=foreign.pk)).status_code == 200
    assert curator.post(reverse("admin:faqs_faq_add"), build_form(faq, collection=own().pk)).status_code == 302
    assert FAQ.objects.get().collection == own()


def test_a_foreign_document_is_no_choice_unless_it_is_linked_already(curator: Client) -> None:
    foreign, linked = DocumentFactory(), DocumentFactory()
    faq = FAQFactory(collection=own(), documents=[linked])
    assert curator.post(change_page(faq), build_form(faq)).status_code == 302
    assert curator.post(change_page(faq), build_form(faq, documents=[foreign])).status_code == 200
    assert faq.sources.count() == 1


def test_without_the_permission_nothing_is_published_changed_while_it_is_or_retired(curator: Client) -> None:
    document = DocumentFactory(collection=own())
    draft = FAQFactory(collection=own(), documents=[document])
    live = FAQFactory(question="Live?", collection=own(), documents=[document], status="published")
    page = curator.get(change_page(draft)).content.decode()
    assert 'value="in_review"' in page
    assert 'value="published"' not in page
    assert curator.post(change_page(draft), build_form(draft, status="published")).status_code == 200
    assert curator.post(change_page(draft), build_form(draft, status="in_review")).status_code == 302
    assert curator.post(change_page(live), build_form(live, question="Changed?")).status_code == 403
    assert "only who may publish" in curator.get(change_page(live)).content.decode()
    changelist = reverse("admin:faqs_faq_changelist")
    for action in ("publish", "retire", "back_to_draft", "delete_selected"):
        curator.post(changelist, {"action": action, "_selected_action": [draft.pk, live.pk], "post": "yes"})
    assert set(FAQ.objects.values_list("question", "status")) == {(draft.question, "in_review"), ("Live?", "published")}


def test_who_may_only_look_restores_and_confirms_nothing(client: Client) -> None:
    client.force_login(UserFactory(permissions=["faqs.view_faq"]))
    faq = FAQFactory()
    set_faq_status(faqs=[faq], status="in_review")
    version = faq.versions.last()
    assert client.post(reverse("admin:faqs_faq_restore", args=[faq.pk, version.pk])).status_code == 403
    assert client.post(reverse("admin:faqs_faq_confirm", args=[faq.pk])).status_code == 403


def test_merging_keeps_a_version_of_both() -> None:
    keep, other = FAQFactory(documents=[DocumentFactory()]), FAQFactory(documents=[DocumentFactory()])
    before = seen(keep)
    merge_faqs(keep=keep, other=other, with_answer=False, by=None)
    assert [version.reason for version in keep.versions.all()] == ["merge", "found"]
    assert keep.versions.last().fingerprint == before
    assert other.versions.first().content["status"] == "retired"
