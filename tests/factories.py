"""One row of everything, with sensible values; nothing is indexed unless a test does it."""

import uuid
from typing import Any

import factory
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from factory.django import DjangoModelFactory

from chat.models import (
    APIClient,
    Assistant,
    Citation,
    Conversation,
    Feedback,
    Message,
    Site,
    Visitor,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from faqs.models import FAQ, Category, FAQSource, Phrasing
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Course, Document, Passage


class UserFactory(DjangoModelFactory):
    """Staff who may do what `permissions=["app.codename"]` says; `is_superuser=True` may do everything.

    They work on everything, or, with `teams=[groups]`, on what those look after.
    """

    class Meta:
        model = get_user_model()
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"staff{n}")
    is_staff = True

    @factory.post_generation
    def permissions(self, create: bool, names: list[str] | None, **_kwargs: Any) -> None:
        for name in names or ():
            app, codename = name.split(".")
            self.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))

    @factory.post_generation
    def teams(self, create: bool, groups: list[Group] | None, **_kwargs: Any) -> None:
        if groups is None:
            self.user_permissions.add(Permission.objects.get(codename="whole_university"))
        else:
            self.groups.set(groups)


class CollectionFactory(DjangoModelFactory):
    class Meta:
        model = Collection

    slug = factory.Sequence(lambda n: f"collection-{n}")
    name = factory.Sequence(lambda n: f"Collection {n}")


class DocumentFactory(DjangoModelFactory):
    class Meta:
        model = Document

    collection = factory.SubFactory(CollectionFactory)
    url = factory.Sequence(lambda n: f"https://www.uni.example/page-{n}")
    title = factory.Sequence(lambda n: f"Page {n}")
    text = factory.LazyAttribute(lambda document: f"# {document.title}\n\nWhat there is to know about it.\n")


class CourseFactory(DjangoModelFactory):
    """A course whose document is not rendered."""

    class Meta:
        model = Course

    document = factory.SubFactory(DocumentFactory)
    code = factory.Sequence(lambda n: f"MO-{n}")
    name = factory.Sequence(lambda n: f"Module {n}")


class PassageFactory(DjangoModelFactory):
    """A passage of the live generation."""

    class Meta:
        model = Passage

    generation = factory.LazyFunction(live_generation)
    document = factory.SubFactory(DocumentFactory)
    position = factory.Sequence(lambda n: n)
    heading_path = factory.LazyAttribute(lambda passage: [passage.document.title])
    text = "What there is to know about it."
    input_hash = factory.Sequence(lambda n: f"{n:032x}")
    embedding = factory.LazyFunction(lambda: [1.0] + [0.0] * 383)


class CategoryFactory(DjangoModelFactory):
    class Meta:
        model = Category

    name = factory.Sequence(lambda n: f"Category {n}")


class FAQFactory(DjangoModelFactory):
    """A draft; `phrasings=[texts]` and `documents=[documents]` link what is given."""

    class Meta:
        model = FAQ
        skip_postgeneration_save = True

    question = factory.Sequence(lambda n: f"What about matter {n}?")

    @factory.post_generation
    def phrasings(self, create: bool, texts: list[str] | None, **_kwargs: Any) -> None:
        for text in texts or ():
            Phrasing.objects.create(faq=self, text=text)

    @factory.post_generation
    def documents(self, create: bool, documents: list[Document] | None, **_kwargs: Any) -> None:
        for position, document in enumerate(documents or ()):
            FAQSource.objects.create(faq=self, document=document, position=position)


class AssistantFactory(DjangoModelFactory):
    class Meta:
        model = Assistant

    slug = factory.Sequence(lambda n: f"assistant-{n}")
    name = factory.Sequence(lambda n: f"Assistant {n}")
    institution = "the University of Example"


class SiteFactory(DjangoModelFactory):
    class Meta:
        model = Site

    name = factory.Sequence(lambda n: f"Site {n}")
    assistant = factory.SubFactory(AssistantFactory)


class APIClientFactory(DjangoModelFactory):
    """A connected program that may ask; `assistants=[assistants]`. Its key is not known: `make_key` gives it one."""

    class Meta:
        model = APIClient
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Program {n}")
    key_id = factory.Sequence(lambda n: f"mk-{n:08x}")
    digest = factory.Sequence(lambda n: f"{n:064x}")
    scopes = ["ask"]
    visitor = factory.SubFactory("tests.factories.VisitorFactory")

    @factory.post_generation
    def assistants(self, create: bool, rows: list[Assistant] | None, **_kwargs: Any) -> None:
        self.assistants.set(rows or ())


class WebhookFactory(DjangoModelFactory):
    """A webhook that takes every event; `assistants=[assistants]`. Its secret is known to nobody."""

    class Meta:
        model = Webhook
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Ticket system {n}")
    url = "https://tickets.uni.example/hooks"
    events = WebhookEvent.values

    @factory.post_generation
    def assistants(self, create: bool, rows: list[Assistant] | None, **_kwargs: Any) -> None:
        self.assistants.set(rows or ())


class WebhookDeliveryFactory(DjangoModelFactory):
    class Meta:
        model = WebhookDelivery

    webhook = factory.SubFactory(WebhookFactory)
    event_id = factory.LazyFunction(uuid.uuid4)
    event = WebhookEvent.ABSTAINED
    body = "{}"


class VisitorFactory(DjangoModelFactory):
    class Meta:
        model = Visitor


class ConversationFactory(DjangoModelFactory):
    class Meta:
        model = Conversation

    id = factory.LazyFunction(uuid.uuid4)
    visitor = factory.SubFactory(VisitorFactory)
    assistant = factory.SubFactory(AssistantFactory)


class QuestionFactory(DjangoModelFactory):
    """What a student asked."""

    class Meta:
        model = Message

    conversation = factory.SubFactory(ConversationFactory)
    role = Message.Role.USER
    client_id = factory.LazyFunction(uuid.uuid4)
    text = factory.Sequence(lambda n: f"How do I do matter {n}?")


class AnswerFactory(DjangoModelFactory):
    """An answer with its question."""

    class Meta:
        model = Message

    question = factory.SubFactory(QuestionFactory)
    conversation = factory.LazyAttribute(lambda answer: answer.question.conversation)
    role = Message.Role.ASSISTANT
    text = "“You do it like this.” [1]"
    strategy = Message.Strategy.EXTRACTIVE


class CitationFactory(DjangoModelFactory):
    class Meta:
        model = Citation

    message = factory.SubFactory(AnswerFactory)
    n = 1
    document = factory.SubFactory(DocumentFactory)
    title = factory.LazyAttribute(lambda citation: citation.document.title if citation.document else "A page")
    url = factory.LazyAttribute(
        lambda citation: citation.document.url if citation.document else "https://www.uni.example/"
    )
    quote = "You do it like this."


class FeedbackFactory(DjangoModelFactory):
    class Meta:
        model = Feedback

    message = factory.SubFactory(AnswerFactory)
    value = 1


def is_indexed(document: Document) -> bool:
    """Return whether questions are answered from its present state."""
    return document.indexed.filter(generation__state="live", state_hash=document.state_hash).exists()
