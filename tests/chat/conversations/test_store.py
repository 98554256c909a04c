"""A question's way into the database and its answer's: in how few statements, and as the assistant is set up now."""

import time
import unicodedata
import uuid
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction

from chat.conversations.closing import close_answer
from chat.conversations.opening import StartedAnswer, load_state, open_question, save_question
from chat.conversations.store import saved_messages
from chat.conversations.visitors import delete_visitor, export_visitor, list_conversations, new_visitor
from chat.errors import Busy, NotFound, Refused
from chat.models import Assistant, Conversation, Message, PromptVersion, RetrievalProfile
from chat.pipeline.reply import Reply
from chat.protocol.answer_events import Cited, End
from chat.protocol.shapes import Source
from chat.sites.lookup import UnknownSite
from tests.chat.statements import statements
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, CollectionFactory, DocumentFactory, SiteFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server

pytestmark = pytest.mark.django_db


def opened(*, visitor: uuid.UUID | None = None, **named: Any) -> StartedAnswer:
    asked = {"conversation": uuid.uuid4(), "client_id": uuid.uuid4(), "text": QUESTION, "language": "en"}
    return open_question(visitor=visitor or new_visitor(), **{**asked, **named})


def give_collections(assistant: Assistant) -> None:
    assistant.collections.add(CollectionFactory(slug="law"))


def rename_collection(assistant: Assistant) -> None:
    assistant.collections.update(slug="medicine")


def change_leg(assistant: Assistant) -> None:
    assert assistant.profile
    assistant.profile.legs.update(weight=0.125)


def change_profile(assistant: Assistant) -> None:
    RetrievalProfile.objects.filter(pk=assistant.profile_id).update(threshold=0.9)


def give_prompt(assistant: Assistant) -> None:
    Assistant.objects.update(prompt=PromptVersion.objects.create(system="Be brief.", question="{question}"))


def give_persona(_assistant: Assistant) -> None:
    Assistant.objects.update(persona="curt")


EDITS: dict[str, tuple[Callable[[Assistant], None], Callable[[StartedAnswer], Any], Any]] = {
    "collections": (give_collections, lambda each: set(each.ask.collections), {"site", "law"}),
    "a collection": (rename_collection, lambda each: set(each.ask.collections), {"medicine"}),
    "a leg": (change_leg, lambda each: [leg.weight for leg in each.ask.profile.legs], [0.125]),
    "the profile": (change_profile, lambda each: each.ask.profile.threshold, 0.9),
    "the prompt": (give_prompt, lambda each: each.ask.template.system, "Be brief."),
    "the persona": (give_persona, lambda each: each.ask.persona, "curt"),
}


@pytest.mark.parametrize("edited", EDITS)
def test_the_next_question_heeds_an_edit(edited: str) -> None:
    edit, told, expected = EDITS[edited]
    profile = RetrievalProfile.objects.create(name="own")
    profile.legs.create(retriever="lexical")
    assistant = AssistantFactory(profile=profile)
    assistant.collections.add(CollectionFactory(slug="site"))
    assert told(opened()) != expected
    edit(assistant)
    assert told(opened()) == expected


def test_a_question_to_an_assistant_that_is_known_takes_two_statements_and_its_answer_one() -> None:
    AssistantFactory()
    opened()
    visitor = new_visitor()
    with statements() as sent:
        reply = opened(visitor=visitor).reply
        close_answer(reply_id=reply.pk, reply=Reply(text="Yes.", end=End("complete", "")), status="complete")
    assert len(sent) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_a_cited_answer_takes_eleven_statements_from_the_socket_to_the_end(server: Server, llm: FakeLLM) -> None:
    llm.says_words("The semester contribution is 318.40 euros each semester [1].")
    with server.connect() as tab:
        tab.answer(QUESTION)
        with statements() as sent:
            answer = tab.answer("What does the semester contribution cost?")
    assert answer.end["status"] == "complete"
    assert answer.cited
    # Look, save; scope, generation, vectors, FAQs, passages; questions that lead on; flags, save.
    assert len(sent) == 11, "\n".join(sent)


def test_the_same_question_again_is_the_same_rows() -> None:
    visitor, conversation, client_id = new_visitor(), uuid.uuid4(), uuid.uuid4()
    first, again = (opened(visitor=visitor, conversation=conversation, client_id=client_id) for _ in range(2))
    assert (first.is_new, again.is_new) == (True, False)
    assert (again.question.pk, again.reply.pk) == (first.question.pk, first.reply.pk)
    assert first.question.pk < first.reply.pk


def test_another_question_has_to_wait() -> None:
    visitor, conversation = new_visitor(), uuid.uuid4()
    opened(visitor=visitor, conversation=conversation)
    with pytest.raises(Busy):
        opened(visitor=visitor, conversation=conversation)
    assert Message.objects.count() == 2


def test_somebody_elses_conversation_and_an_unknown_visitor_are_not_found() -> None:
    conversation = opened().conversation
    with pytest.raises(NotFound):
        opened(conversation=conversation)
    with pytest.raises(NotFound):
        opened(visitor=uuid.uuid4())


def test_a_conversation_begins_with_the_assistant_of_its_site_and_stays_with_it() -> None:
    AssistantFactory()
    own, other = AssistantFactory(), AssistantFactory()
    site = SiteFactory(assistant=own)
    visitor = new_visitor()
    first = opened(visitor=visitor, site=site.public_id)
    close_answer(reply_id=first.reply.pk, reply=Reply(text="Yes."), status="complete")
    site.assistant = other
    site.save()
    opened(visitor=visitor, conversation=first.conversation, site=site.public_id)
    row = Conversation.objects.get(pk=first.conversation)
    assert (row.assistant, row.site) == (own, site)
    assert row.updated_at > row.created_at


@pytest.mark.parametrize("public_id", ["nowhere", "a\0b", "inactive"])
def test_a_site_that_is_not_there_or_not_active_serves_nobody(public_id: str) -> None:
    SiteFactory(public_id="inactive", is_active=False)
    with pytest.raises(UnknownSite):
        opened(site=public_id)


@pytest.mark.parametrize("change", ["another was asked", "another visitor's"])
def test_nothing_is_saved_where_the_conversation_changed_since_it_was_looked_at(change: str) -> None:
    visitor, conversation, client_id = new_visitor(), uuid.uuid4(), uuid.uuid4()
    seen = load_state(visitor=visitor, conversation=conversation, client_id=client_id, site="")
    first = opened(visitor=visitor if change == "another was asked" else new_visitor(), conversation=conversation)
    close_answer(reply_id=first.reply.pk, reply=Reply(text="Yes."), status="complete")
    question = Message(conversation_id=conversation, client_id=client_id, text="x", created_at=first.reply.created_at)
    assert save_question(question, seen=seen, visitor=visitor, title="x", ask=first.ask) is None
    assert Message.objects.count() == 2


def test_what_was_said_is_understood_in_one_spelling_and_kept_as_it_was_typed() -> None:
    visitor, conversation = new_visitor(), uuid.uuid4()
    for text in ("Prüfungsgebühren in der Universität?", "Und für Gäste?"):
        typed = unicodedata.normalize("NFD", text)
        one = opened(visitor=visitor, conversation=conversation, text=typed)
        assert (one.question.text, one.ask.text) == (typed, text)
        close_answer(reply_id=one.reply.pk, reply=Reply(text="318 Euro."), status="complete")
    assert one.ask.history[0] == ("user", "Prüfungsgebühren in der Universität?")


@pytest.mark.django_db(transaction=True)
def test_a_visitor_is_erased_while_an_answer_is_just_being_saved() -> None:
    visitor = new_visitor()
    started = opened(visitor=visitor)
    page = DocumentFactory()
    source = Source(n=1, title=page.title, url=page.url, heading="", page=None, quote="")
    reply = Reply(text="It is 318.40 euros [1].", cited=[Cited(source, 0, page.pk)])
    is_saved, began = Event(), Event()

    def save() -> None:
        with transaction.atomic():
            close_answer(reply_id=started.reply.pk, reply=reply, status=Message.Status.COMPLETE)
            is_saved.set()
            began.wait(5)
            time.sleep(0.3)  # the erasure waits by now, or has looked for citations in vain
        connection.close()

    saving = Thread(target=save)
    saving.start()
    assert is_saved.wait(5)
    began.set()
    delete_visitor(visitor)
    saving.join()
    assert not Message.objects.exists()


def answered(visitor: uuid.UUID, conversation: uuid.UUID, text: str, *, replaces: int | None = None) -> StartedAnswer:
    one = opened(visitor=visitor, conversation=conversation, text=text, replaces=replaces)
    close_answer(reply_id=one.reply.pk, reply=Reply(text=f"About {text}"), status="complete")
    return one


def test_a_question_takes_the_place_of_the_latest_one_with_its_answer() -> None:
    visitor, conversation = new_visitor(), uuid.uuid4()
    answered(visitor, conversation, "Fees?")
    wrong = answered(visitor, conversation, "Dormitoris?")
    right = answered(visitor, conversation, "Dormitories?", replaces=wrong.question.pk)
    assert [text for _role, text in right.ask.history] == ["Fees?", "About Fees?"]
    shown = saved_messages(Conversation.objects.get(pk=conversation))
    assert [message["text"] for message in shown] == ["Fees?", "About Fees?", "Dormitories?", "About Dormitories?"]
    assert list_conversations(visitor)[0]["messages"] == 4
    kept = export_visitor(visitor)["conversations"][0]["messages"]
    assert [message["replaced"] for message in kept] == [False, False, True, True, False, False]


def test_only_the_latest_question_can_be_replaced() -> None:
    visitor, conversation = new_visitor(), uuid.uuid4()
    first = answered(visitor, conversation, "Fees?")
    answered(visitor, conversation, "Dormitories?")
    with pytest.raises(Refused):
        opened(visitor=visitor, conversation=conversation, text="Fees 2027?", replaces=first.question.pk)
    assert Message.objects.filter(is_replaced=True).count() == 0
