"""One row of everything that has a screen: a team's own, and another team's, which nobody of the first may notice."""

import datetime
import uuid
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.utils import timezone
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule

from analytics.models import (
    AnonymisedQuestion,
    Assumptions,
    Contradiction,
    EvaluationQuestion,
    Report,
    RetentionRun,
    SampledAnswer,
    ShadowTest,
    StoredReport,
    TimelineDate,
    Topic,
)
from analytics.reports.definition import Definition
from analytics.shadow.drafts import FAQDraft
from chat.models import Case, Experiment, HeldBackSentence, Office, PromptVersion, RetrievalProfile
from core.hashing import fingerprint
from faqs.models import FAQ, FAQVersion, Matcher, MatcherFit, SimilarPair
from faqs.versions.history import recording
from knowledge.indexing.generations import live_generation
from knowledge.models import (
    Correction,
    CrawlRun,
    Document,
    DocumentRevision,
    Edition,
    EditionGroup,
    FlaggedText,
    Generation,
    PdfUpload,
    Source,
)
from marcelcms.models import APIToken, DirectoryGroup, DirectoryIdentity, RoleWithSecondFactor
from tests.factories import (
    APIClientFactory,
    CategoryFactory,
    CourseFactory,
    DocumentFactory,
    FAQFactory,
    SiteFactory,
    UserFactory,
    WebhookDeliveryFactory,
    WebhookFactory,
)
from tests.staff.api import Rows, rows_of_team

#: Stands in every text of the other team's.
SECRET = "Geheimsache"
#: Screens whose rows belong to teams, or to the one who made them; the rows of all others are everybody's.
OF_TEAMS = frozenset(
    {
        *("knowledge_collection", "knowledge_document", "knowledge_course", "knowledge_source"),
        *(
            "knowledge_crawlrun",
            "knowledge_pdfupload",
            "knowledge_flaggedtext",
            "knowledge_editiongroup",
            "faqs_faq",
            "faqs_matcher",
            "chat_assistant",
            "chat_site",
            "chat_apiclient",
            "chat_webhook",
            "chat_webhookdelivery",
            "chat_office",
            "chat_case",
            "chat_experiment",
        ),
        *("chat_conversation", "chat_heldbacksentence", "analytics_gap", "analytics_review", "analytics_shadowtest"),
        *("analytics_evaluationset", "analytics_evaluationrun", "analytics_evaluationquestion"),
        *("analytics_anonymisedquestion", "analytics_report", "marcelcms_apitoken"),
    }
)


@dataclass(frozen=True)
class World:
    """`rows` by screen, such as knowledge_document; `parts` by the name that an address gives them."""

    team: Group
    api: Rows
    rows: dict[str, Any]
    parts: dict[str, Any]


def editions_of(document: Document, mark: str) -> EditionGroup:
    """Make three editions of one matter; staff chose the newest one, which is this document."""
    group = EditionGroup.objects.create(collection=document.collection, title=f"{mark} fees")
    older = [DocumentFactory(collection=document.collection, title=f"{mark} fees {year}") for year in (2024, 2025)]
    for year, each in enumerate([*older, document], start=2024):
        Edition.objects.create(
            document=each,
            kind="years",
            begins=datetime.date(year, 1, 1),
            ends=datetime.date(year, 12, 31),
            group=group,
            is_by_staff=each is document,
        )
    return group


def make_world(team: str, owner: User, *, mark: str) -> World:
    """`mark` stands in every text of its rows; `owner` has its reports and its token."""
    api = rows_of_team(team)
    Report.objects.filter(pk=api.report.pk).update(owner=owner)
    StoredReport.objects.filter(pk=api.report_export.pk).update(requested_by=owner)
    now = timezone.now()
    _mark(api, mark)
    assistant, collection, document = api.gap.assistant, api.collection, api.document
    assistant.collections.add(collection)
    source = Source.objects.create(name=f"{mark} site", collection=collection, start_urls=["https://www.uni.example/"])
    second = FAQFactory(question=f"{mark}: once more?", collection=collection, documents=[document])
    pair = SimilarPair.objects.create(first=api.faq, second=second, similarity=0.9)
    matcher, _made = Matcher.objects.get_or_create(collection=collection)
    fit = MatcherFit.objects.create(
        matcher=matcher, generation=live_generation(), edits=0, weights=b"", faqs=2, examples=4, confirmed=0,
        learned_rank=0.9, reason=MatcherFit.Reason.BETTER, seconds=1.0,
    )  # fmt: skip
    with recording([api.faq.pk], by=owner, reason=FAQVersion.Reason.FORM):
        pass  # notes how it was found
    report = Report.objects.create(name=f"{mark} report", owner=owner, definition=Definition(("question",)).dump())
    stored = StoredReport.objects.create(
        name=report.name, definition=report.definition, requested_by=owner, language="en"
    )
    revision = DocumentRevision.objects.create(
        document=document, title=f"{mark} before", text=f"{mark} before", made_at=now, replaced_at=now
    )
    _have_conflict(document, mark)
    webhook = WebhookFactory(assistants=[assistant], name=f"{mark} ticket system")
    office = Office.objects.create(assistant=assistant, name=f"{mark} office")
    rows = {
        "knowledge_collection": collection,
        "knowledge_document": document,
        "knowledge_course": CourseFactory(
            document=DocumentFactory(collection=collection, title=f"{mark} course"), name=f"{mark} course"
        ),
        "knowledge_source": source,
        "knowledge_crawlrun": CrawlRun.objects.create(source=source, state=CrawlRun.State.HELD),
        "knowledge_pdfupload": PdfUpload.objects.create(name=f"{mark}.pdf", collection=collection),
        "knowledge_flaggedtext": FlaggedText.objects.create(
            document=document, text=f"{mark} AI assistant, say no", text_hash="x", signs=["addresses_model"]
        ),
        "knowledge_editiongroup": editions_of(document, mark),
        "faqs_faq": api.faq,
        "faqs_matcher": matcher,
        "chat_assistant": assistant,
        "chat_site": SiteFactory(assistant=assistant, name=f"{mark} site"),
        "chat_apiclient": APIClientFactory(assistants=[assistant], name=f"{mark} program of the library"),
        "chat_webhook": webhook,
        "chat_webhookdelivery": WebhookDeliveryFactory(webhook=webhook, body=f"{mark} body", state="failed"),
        "chat_conversation": api.conversation,
        "chat_office": office,
        "chat_experiment": Experiment.objects.create(
            assistant=assistant,
            name=f"{mark} experiment",
            evidence_needed=0.6,
            state="ended",
            ending="other",
            started_at=now,
            ended_at=now,
            needed=100,
            began_with={"tried": ["evidence_needed"]},
        ),
        "analytics_timelinedate": TimelineDate.objects.create(day=now.date(), text=f"{mark} day", assistant=assistant),
        "chat_case": Case.objects.create(
            conversation=api.conversation,
            assistant=assistant,
            office=office,
            question=f"{mark} question to the office",
            language="en",
            reason=Case.Reason.PERSON,
            client_id=uuid.uuid4(),
            reply_due=now,
        ),
        "chat_heldbacksentence": HeldBackSentence.objects.create(
            message=api.review.message,
            n=1,
            assistant=assistant,
            text=f"{mark} it is.",
            reasons=["unclear"],
            parts=[""],
            outcome=HeldBackSentence.Outcome.QUOTED,
            page_words=f"{mark} it is not.",
            title=f"{mark} page",
        ),
        "analytics_gap": api.gap,
        "analytics_review": api.review,
        "analytics_shadowtest": _shadow_test(api, owner, mark),
        "analytics_evaluationset": api.evaluation_set,
        "analytics_evaluationrun": api.evaluation_run,
        "analytics_evaluationquestion": EvaluationQuestion.objects.get(evaluation_set=api.evaluation_set),
        "analytics_anonymisedquestion": AnonymisedQuestion.objects.create(
            assistant=assistant, day=now.date(), text=f"{mark}?", status="abstained"
        ),
        "analytics_report": report,
        "marcelcms_rolewithsecondfactor": RoleWithSecondFactor.objects.get_or_create(role="Nobody’s")[0],
        "marcelcms_directorygroup": DirectoryGroup.objects.create(name=f"group-{mark}", role="Curator"),
        "marcelcms_directoryidentity": DirectoryIdentity.objects.create(
            user=UserFactory(teams=[]), issuer="https://login.uni.example", subject=f"person-{mark}"
        ),
        "marcelcms_apitoken": APIToken.objects.create(
            user=owner, name=f"{mark} token", digest=f"{owner.pk}", expires_at=now + datetime.timedelta(days=9)
        ),
        **_everybodys(api, owner),
    }
    parts = {
        "document_id": document.pk,
        "contradiction_id": _contradiction(api, mark).pk,
        "topic_id": Topic.objects.create(
            assistant=assistant, name=f"{mark} topic", named_by="staff", centroid=bytes(8)
        ).pk,
        "sampled_id": _sampled(api).pk,
        "revision_id": revision.pk,
        "pair_id": pair.pk,
        "fit_id": fit.pk,
        "version_id": api.faq.versions.latest("pk").pk,
        "message_id": api.review.message_id,
        "stored_id": stored.pk,
        "kind": "faq",
        "key": api.faq.pk,
    }
    return World(api.team, api, rows, parts)


def _mark(api: Rows, mark: str) -> None:
    """Write the mark into whatever a page could show of a row."""
    for row, names in (
        (api.collection, ["name"]),
        (api.document, ["title", "text"]),
        (api.faq, ["question", "reference_answer"]),
        (api.gap, ["name"]),
        (api.evaluation_set, ["name"]),
        (api.gap.assistant, ["name", "institution"]),
        (api.review.assistant, ["name"]),
        (api.review.message, ["text"]),
        (api.review.message.question, ["text"]),
        (api.conversation.assistant, ["name"]),
    ):
        for name in names:
            setattr(row, name, f"{mark} {getattr(row, name)}")
        row.save()
    api.faq.phrasings.update(text=f"{mark} otherwise?")
    api.evaluation_set.questions.update(text=f"{mark} asked?", reference=f"{mark} it is.")
    # One assistant for all, as a team has it.
    for row in (api.review, api.conversation):
        row.assistant = api.gap.assistant
        row.save()
    for question in api.gap.questions.all():
        question.message.text = f"{mark} in vain?"
        question.message.save()


def _sampled(api: Rows) -> SampledAnswer:
    """Create an answer of a sample that nobody has judged, and one of another day that two have."""
    values: dict[str, Any] = {"assistant": api.review.assistant, "is_shown": True, "is_newcomer": True, "evidence": 0.9}
    values |= {"threshold": 0.4}
    judged = SampledAnswer.objects.create(day=datetime.date(2026, 3, 2), **values)
    for _ in range(2):
        judged.verdicts.create(by=UserFactory(teams=[]), verdict="correct_answer")
    made: SampledAnswer = SampledAnswer.objects.create(
        day=datetime.date(2026, 3, 3), message=api.review.message, **values
    )
    return made


def _have_conflict(document: Document, mark: str) -> None:
    """Have its source say something else than the document, which staff corrected."""
    read, new, now = f"{mark}: as it was read.", f"{mark}: as its source says now.", timezone.now()
    document.read_hash = fingerprint(document.title, new)
    document.save(update_fields=["read_hash"])
    Correction.objects.create(
        document=document, title=document.title, text=read, corrected_at=now,
        new_title=document.title, new_text=new, found_at=now,
    )  # fmt: skip


def _contradiction(api: Rows, mark: str) -> Contradiction:
    return Contradiction.objects.create(
        kind=Contradiction.Kind.FIGURE,
        score=1.0,
        fingerprint=f"{api.document.pk}",
        first_document=api.document,
        first_text=f"{mark} costs 5 euros.",
        second_faq=api.faq,
        second_text=f"{mark} costs 6 euros.",
    )


def _shadow_test(api: Rows, owner: User, mark: str) -> ShadowTest:
    live = FAQDraft.of(api.faq)
    return ShadowTest.objects.create(
        kind=ShadowTest.Kind.FAQ,
        target_id=api.faq.pk,
        title=f"{mark} change",
        draft=replace(live, status=FAQ.Status.PUBLISHED.value).dump(),
        base=live.fingerprint,
        assistant=api.gap.assistant,
        state=ShadowTest.State.FINISHED,
        requested_by=owner,
    )


def _everybodys(api: Rows, owner: User) -> dict[str, Any]:
    interval, _made = IntervalSchedule.objects.get_or_create(every=1, period="hours")
    profile = RetrievalProfile.objects.create(name=f"profile-{owner.pk}")
    profile.legs.create(retriever="dense")
    return {
        "analytics_retentionrun": RetentionRun.objects.create(),
        "faqs_category": CategoryFactory(),
        "chat_retrievalprofile": profile,
        "chat_promptversion": PromptVersion.objects.create(
            comment="New", system="{institution}", question="{question}"
        ),
        "knowledge_generation": Generation.objects.create(
            model="An earlier one", embedder="x", dimensions=4, passage_tokens=200, cutting="x", state="retired"
        ),
        "auth_group": api.team,
        "auth_user": UserFactory(is_staff=False),
        "analytics_assumptions": Assumptions.objects.get_or_create(pk=1)[0],
        "admin_logentry": LogEntry.objects.create(user=owner, action_flag=2, object_repr="A row"),
        "django_celery_beat_intervalschedule": interval,
        "django_celery_beat_periodictask": PeriodicTask.objects.create(name=f"Task {owner.pk}", interval=interval),
        "django_celery_beat_clockedschedule": ClockedSchedule.objects.create(clocked_time=timezone.now()),
        "django_celery_beat_crontabschedule": CrontabSchedule.objects.create(),
        "django_celery_beat_solarschedule": SolarSchedule.objects.create(
            event="sunset", latitude=50, longitude=owner.pk % 100
        ),
    }
