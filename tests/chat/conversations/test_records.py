"""What an answer was made from is kept beside it, in the words of its moment, and goes with it."""

import datetime
import uuid
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_django import Settings

from chat.conversations.closing import close_answer
from chat.conversations.retention import delete_old_records
from chat.conversations.visitors import delete_conversation, delete_visitor, export_visitor
from chat.models import AnswerRecord, Assistant, Experiment, Message, RetrievalProfile
from chat.models.experiments import Arm, arm_of
from chat.pipeline.reply import Reply
from chat.protocol.answer_events import End
from chat.protocol.moment import Moment, read_moment
from faqs.indexing import sync_faq
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document
from tests.chat.conversations.asked import ask_and_save
from tests.chat.statements import statements
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, FAQFactory
from tests.fakes.llm import FakeLLM

#: Answers are made in threads, which see what is committed only.
pytestmark = pytest.mark.django_db(transaction=True)
FEES = "https://www.uni.example/fees"


@pytest.fixture(autouse=True)
def assistant(monkeypatch: pytest.MonkeyPatch) -> Assistant:
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    made: Assistant = AssistantFactory()
    return made


def moment_of(answer: Message) -> Moment:
    return read_moment(AnswerRecord.objects.get(message=answer).moment)


@pytest.mark.usefixtures("pages")
def test_a_quoted_answer_keeps_the_texts_that_were_read_and_which_were_cited() -> None:
    moment = moment_of(ask_and_save(QUESTION))
    first = moment.passages[0]
    assert (first.number, first.title, first.url) == (1, "Fees", FEES)
    assert "318.40 euros" in first.text
    assert [each.title for each in moment.passages if each.cited == (1,)] == ["Fees"]
    assert (moment.model, moment.instructions, moment.strictness) == ("", None, "")
    assert moment.profile.name == "default"
    assert [each.name for each in moment.profile.retrievers] == ["lexical", "dense", "faq"]
    assert moment.embedding_model
    assert moment.generation


@pytest.mark.usefixtures("pages")
def test_it_says_the_same_when_pages_faqs_and_the_profile_have_changed(assistant: Assistant) -> None:
    fees = Document.objects.get(url=FEES)
    faq = FAQFactory(
        question="How high is the semester contribution?",
        reference_answer="318.40 euros.",
        status="published",
        documents=[fees],
    )
    sync_faq(faq.pk)
    profile = RetrievalProfile.objects.create(name="ours", sources=3, threshold=0.1)
    for retriever in ("lexical", "faq"):
        profile.legs.create(retriever=retriever, weight=1.5, k=20)
    assistant.profile = profile
    assistant.save()
    answer = ask_and_save(QUESTION)
    before = moment_of(answer)
    assert [(each.faq_id, each.question, each.answer) for each in before.faqs] == [
        (faq.pk, "How high is the semester contribution?", "318.40 euros.")
    ]
    assert (before.profile.name, before.profile.sources, before.profile.threshold) == ("ours", 3, 0.1)
    cited = list(answer.citations.values("n", "title", "url", "heading", "quote"))

    fees.text = "# Fees\n\nThe semester contribution is 999 euros.\n"
    fees.save()
    sync_pending()
    faq.delete()
    profile.legs.all().delete()
    Document.objects.exclude(pk=fees.pk).delete()
    assert moment_of(answer) == before
    assert list(answer.citations.values("n", "title", "url", "heading", "quote")) == cited


@pytest.mark.usefixtures("pages")
def test_an_answer_of_the_model_keeps_the_instructions_and_what_was_put_into_them(llm: FakeLLM) -> None:
    llm.says_words("The semester contribution is 318.40 euros [1].")
    moment = moment_of(ask_and_save(QUESTION))
    assert moment.model
    assert moment.instructions
    assert "{assistant}" in moment.instructions.system
    assert moment.instructions.institution == "the University of Example"
    assert moment.passages[0].cited == (1,)
    assert moment.strictness == "strict"


@pytest.mark.usefixtures("pages")
def test_what_was_read_before_no_answer_was_given_is_kept_without_numbers() -> None:
    answer = ask_and_save("Which quantum computers does the observatory on Mars rent to zebras?")
    assert answer.status == "abstained"
    passages = moment_of(answer).passages
    assert passages
    assert {each.number for each in passages} == {0}


@pytest.mark.usefixtures("pages")
def test_a_fixed_reply_has_no_record() -> None:
    ask_and_save("Thank you!")
    ask_and_save("I want to kill myself.")
    assert Message.objects.filter(role="assistant").count() == 2
    assert not AnswerRecord.objects.exists()


@pytest.mark.usefixtures("pages")
def test_it_is_saved_with_the_answer_in_one_statement() -> None:
    answer = ask_and_save(QUESTION)
    moment = moment_of(answer)
    AnswerRecord.objects.all().delete()
    answer.citations.all().delete()
    with statements() as sent:
        close_answer(
            reply_id=answer.pk, reply=Reply(text="", end=End("complete", "", moment=moment)), status="complete"
        )
    assert len(sent) == 1
    assert AnswerRecord.objects.count() == 1


def test_an_answer_that_was_deleted_meanwhile_leaves_no_record() -> None:
    end: Any = End("complete", "", moment=moment_of(ask_and_save(QUESTION)))
    Message.objects.all().delete()
    close_answer(reply_id=1, reply=Reply(text="", end=end), status="complete")
    assert not AnswerRecord.objects.exists()


# --- rights and deletion ---


@pytest.mark.usefixtures("pages")
def test_a_visitors_copy_has_the_pages_that_were_read_and_nothing_of_the_universitys_own() -> None:
    faq = FAQFactory(
        question="How high is the semester contribution?",
        reference_answer="Only for staff.",
        status="published",
        documents=[Document.objects.get(url=FEES)],
    )
    sync_faq(faq.pk)
    answer = ask_and_save(QUESTION)
    copy = export_visitor(answer.conversation.visitor_id)["conversations"][0]["messages"]
    assert copy[0]["made_from"] is None
    assert copy[1]["made_from"]["pages_read"][0]["address"] == FEES
    assert "318.40 euros" in copy[1]["made_from"]["pages_read"][0]["text"]
    assert "Only for staff" not in str(copy)


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("erased", ["conversation", "visitor"])
def test_it_goes_when_the_student_erases(erased: str) -> None:
    answer, kept = ask_and_save(QUESTION), ask_and_save(QUESTION)
    visitor = answer.conversation.visitor_id
    if erased == "visitor":
        delete_visitor(visitor)
    else:
        delete_conversation(visitor=visitor, conversation=answer.conversation_id)
    assert list(AnswerRecord.objects.values_list("message", flat=True)) == [kept.pk]


@pytest.mark.usefixtures("pages")
def test_it_goes_after_its_days_while_the_answer_stays(settings: Settings) -> None:
    settings.ANSWER_RECORD_DAYS = 30
    old, young = ask_and_save(QUESTION), ask_and_save(QUESTION)
    for answer, days in ((old, 31), (young, 29)):
        made_at = timezone.now() - datetime.timedelta(days=days)
        AnswerRecord.objects.filter(message=answer).update(made_at=made_at)
    assert delete_old_records() == 1
    assert list(AnswerRecord.objects.values_list("message", flat=True)) == [young.pk]
    assert Message.objects.filter(pk=old.pk).exists()


@pytest.mark.usefixtures("pages")
def test_it_names_the_settings_of_the_arm_that_an_experiment_answered_with(assistant: Assistant) -> None:
    profile = RetrievalProfile.objects.create(name="words-only", sources=2)
    profile.legs.create(retriever="lexical")
    tried = Experiment.objects.create(
        assistant=assistant, name="Words", state="running", profile=profile, evidence_needed=0.2
    )
    ids = [uuid.UUID(int=number) for number in range(50)]
    chosen = {arm_of(tried.pk, tried.share, each): each for each in ids}
    made = {arm: moment_of(ask_and_save(QUESTION, conversation=each)).profile for arm, each in chosen.items()}
    assert (made[Arm.OTHER].name, made[Arm.OTHER].threshold) == ("words-only", 0.2)
    assert [each.name for each in made[Arm.OTHER].retrievers] == ["lexical"]
    assert (made[Arm.NOW].name, made[Arm.NOW].threshold) == ("default", 0.4)
