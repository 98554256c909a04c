"""A program of a member of staff, and rows of their own team and of another one."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from analytics.models import (
    EvaluationQuestion,
    EvaluationRun,
    EvaluationSet,
    Gap,
    QuestionResult,
    Report,
    Review,
    StoredReport,
    Topic,
)
from analytics.reports.files import file_path
from analytics.topics.services import merge_topic
from core.db.tokens import hash_token
from faqs.models import FAQ
from faqs.versions.snapshots import fingerprint_content, read_content
from knowledge.models import Collection, Document
from marcelcms.models import APIToken, new_token
from tests.analytics.gaps.rows import ask_in_vain
from tests.analytics.reports.rows import definition
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    CitationFactory,
    CollectionFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    FeedbackFactory,
    PassageFactory,
    QuestionFactory,
    UserFactory,
)

ROOT = "/api/staff/v1"


def make_token(user: User, *, days: float = 30) -> str:
    token = new_token()
    APIToken.objects.create(
        user=user, name="Nightly import", digest=hash_token(token), expires_at=timezone.now() + timedelta(days=days)
    )
    return token


class Program:
    """Sends JSON with a token; `address` is below the API's root, or absolute as `next` is."""

    def __init__(self, user: User | None = None, *, token: str = "", **headers: str) -> None:
        sent = token or (make_token(user) if user else "")
        self.headers = ({"authorization": f"Bearer {sent}"} if sent else {}) | headers
        self.client = Client()

    def call(self, method: str, address: str, body: object = None) -> Any:
        path = address.removeprefix("http://testserver") if address.startswith("http") else f"{ROOT}{address}"
        sent = {} if body is None else {"data": body, "content_type": "application/json"}
        return getattr(self.client, method)(path, headers=self.headers, **sent)

    def get(self, address: str) -> Any:
        return self.call("get", address)

    def post(self, address: str, body: object) -> Any:
        return self.call("post", address, body)

    def patch(self, address: str, body: object) -> Any:
        return self.call("patch", address, body)


@dataclass
class Rows:
    """What one team looks after; the report is shared with all, and it and its file are whose `make_member` says."""

    team: Group
    collection: Collection
    document: Document
    faq: FAQ
    gap: Gap
    topic: Topic
    review: Review
    conversation: Any
    evaluation_set: EvaluationSet
    evaluation_run: EvaluationRun
    report: Report
    report_export: StoredReport

    def key(self, basename: str) -> Any:
        rows = {
            "documents": self.document,
            "faqs": self.faq,
            "gaps": self.gap,
            "topics": self.topic,
            "reviews": self.review,
            "conversations": self.conversation,
            "evaluation-sets": self.evaluation_set,
            "evaluation-runs": self.evaluation_run,
            "reports": self.report,
            "report-exports": self.report_export,
        }
        return rows[basename].pk


def rows_of_team(name: str) -> Rows:
    team = Group.objects.create(name=name)
    collection, assistant = CollectionFactory(), AssistantFactory()
    collection.teams.add(team)
    assistant.teams.add(team)
    document = DocumentFactory(collection=collection)
    PassageFactory(document=document)
    faq = FAQFactory(collection=collection, documents=[document], phrasings=["How about it?"])
    asked = QuestionFactory(conversation=ConversationFactory(assistant=assistant))
    answer = AnswerFactory(question=asked, status="abstained", finished_at=timezone.now())
    CitationFactory(message=answer, document=document)
    FeedbackFactory(message=answer, value=-1)
    evaluation_set = EvaluationSet.objects.create(name=f"Set of {name}")
    evaluation_set.collections.add(collection)
    question = EvaluationQuestion.objects.create(evaluation_set=evaluation_set, external_id="1", text="How much?")
    run = EvaluationRun.objects.create(evaluation_set=evaluation_set, profile="default", state="finished")
    QuestionResult.objects.create(run=run, question=question, ranking=[document.pk], seconds=0.1)
    return Rows(
        team,
        collection,
        document,
        faq,
        make_gap(assistant),
        make_topic(assistant),
        make_review(answer),
        answer.conversation,
        evaluation_set,
        run,
        report := make_report(assistant, name),
        make_export(report, assistant),
    )


def make_gap(assistant: Any, *texts: str) -> Gap:
    now = timezone.now()
    gap = Gap.objects.create(
        name="Parking", assistant=assistant, first_asked=now, last_asked=now, centroid=b"", recipe="none"
    )
    for text in texts or ("How do I get a parking permit?",):
        gap.questions.create(
            message=ask_in_vain(text, assistant=assistant), language="en", embedding=b"\x00\x3c", recipe="none"
        )
    return gap


def make_topic(assistant: Any, name: str = "Parking") -> Topic:
    topic: Topic = Topic.objects.create(
        name=name, named_by=Gap.NamedBy.STAFF, assistant=assistant, centroid=b"", recipe="none"
    )
    return topic


def make_joined_topic(into: Topic) -> Topic:
    """Return a topic that staff joined to another one."""
    joined = make_topic(into.assistant, "Cars")
    merge_topic(topic=joined, version=joined.version, into=into)
    return joined


def make_report(assistant: Any, name: str) -> Report:
    owner, columns = UserFactory(teams=[]), definition("question", format="csv", assistants=(assistant.pk,))
    return Report.objects.create(name=f"Report of {name}", owner=owner, is_shared=True, definition=columns.dump())


def make_export(report: Report, assistant: Any) -> StoredReport:
    """One that is ready, with its file."""
    stored = StoredReport.objects.create(
        name=report.name,
        definition=report.definition,
        requested_by=report.owner,
        language="en",
        state=StoredReport.State.FINISHED,
        has_file=True,
        smallest=settings.SMALLEST_GROUP,
        assistants=[assistant.pk],
    )
    file_path(stored).write_bytes(b"question\r\nWhat are the fees?\r\n")
    return stored


def make_review(answer: Any) -> Review:
    review: Review = Review.objects.create(
        message=answer,
        assistant=answer.conversation.assistant,
        language="en",
        asked_at=timezone.now(),
        reasons=["abstained"],
    )
    return review


def make_member(rows: Rows, *permissions: str) -> User:
    user: User = UserFactory(teams=[rows.team], permissions=permissions)
    Report.objects.filter(pk=rows.report.pk).update(owner=user)
    StoredReport.objects.filter(pk=rows.report_export.pk).update(requested_by=user)
    return user


def read_version(row: Any) -> Any:
    if isinstance(row, Document):
        row.refresh_from_db()
        return row.updated_at.isoformat()
    if isinstance(row, FAQ):
        return fingerprint_content(read_content(FAQ.objects.with_parts().get(pk=row.pk)))
    return type(row).objects.get(pk=row.pk).version
