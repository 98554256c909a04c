"""Shadow tests, and what they are run on."""

from typing import Any

from asgiref.sync import async_to_sync

from analytics.models import EvaluationQuestion, EvaluationSet, Judgment, ShadowTest
from analytics.shadow.comparison import Asking, Found, look_up_batch
from analytics.shadow.drafts import Draft
from analytics.shadow.overlays import Overlay
from analytics.shadow.questions import questions_for
from analytics.shadow.run import work_on
from analytics.shadow.services import start_test
from chat.models import Assistant, Message
from chat.pipeline.question import Context
from chat.pipeline.retrieval.search import find_passages
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.route import understand
from knowledge.models import Collection, Document
from tests.factories import AnswerFactory, AssistantFactory, ConversationFactory, QuestionFactory, UserFactory

#: What students ask of the pages of `tests.conftest.PAGES`.
QUESTIONS = (
    "How much is the semester contribution?",
    "When is the library open?",
    "How do I get a refund of the semester ticket?",
    "What does a room in a dormitory cost?",
    "How long may I keep a book?",
    "Is there a swimming pool?",
)


def the_assistant() -> Assistant:
    return Assistant.objects.first() or AssistantFactory()


def student_asks(text: str, *, assistant: Assistant | None = None, **answer: Any) -> Message:
    conversation = ConversationFactory(assistant=assistant or the_assistant())
    question: Message = QuestionFactory(conversation=conversation, text=text)
    AnswerFactory(question=question, **answer)
    return question


def keep(
    text: str, *documents: Document, assistant: Assistant | None = None, answerable: bool | None = None
) -> EvaluationQuestion:
    """Make a question that staff kept, with the documents that answer it."""
    assistant = assistant or the_assistant()
    kept, made = EvaluationSet.objects.get_or_create(assistant=assistant, name="Kept")
    if made:
        kept.collections.set(Collection.objects.all())
    number = kept.questions.count()
    question = kept.questions.create(text=text, external_id=str(number), answerable=True if documents else answerable)
    for document in documents:
        Judgment.objects.create(question=question, document=document)
    return question


def run_test(draft: Draft, target_id: int, *, asks_model: bool = False) -> ShadowTest:
    """Start a test and work on it to its end."""
    by = UserFactory()
    test = start_test(
        draft=draft, target_id=target_id, title="A change", assistant=the_assistant(), asks_model=asks_model, by=by
    )
    work_on(test.pk)
    test.refresh_from_db()
    return test


def looked_up(overlay: Overlay) -> list[Found]:
    """Look up the questions of the only assistant, with and without the change."""
    overlay.prepare()
    asking = Asking({the_assistant().pk: the_assistant()})
    waiting = questions_for(the_assistant())
    found: list[Found] = []
    while waiting:
        batch = look_up_batch(overlay, asking, waiting)
        found, waiting = found + batch, waiting[len(batch) :]
    return found


def served() -> list[Context]:
    """Return what each question is answered from now, as students are served."""
    asking = Asking({the_assistant().pk: the_assistant()})
    contexts = []
    for question in questions_for(the_assistant()):
        context = async_to_sync(understand)(asking.ask(question))
        find_passages(context)
        choose_sources(context)
        contexts.append(context)
    return contexts


def list_sources(contexts: list[Context]) -> list[tuple[Any, ...]]:
    """All that answers are made of, but for the ids of passages, which are others once they are written anew."""
    return [
        (
            context.ask.text,
            round(context.evidence or 0, 9),
            [(each.document_id, each.label, each.url, each.text) for each in context.candidates],
            [round(hit.score, 9) for hit in context.retrieval.hits] if context.retrieval else [],
        )
        for context in contexts
    ]
