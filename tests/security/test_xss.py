"""No payload runs in Chromium, wherever it is shown: to students in the widget, to staff in the admin."""

from datetime import timedelta
from itertools import cycle
from urllib.parse import quote, urlencode

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django import Settings

from chat.models import Citation, Conversation, Message
from knowledge.indexing.documents import sync_document
from knowledge.models import CrawlOutcome, CrawlRun, Document, PdfUpload, Source
from tests.analytics.gaps.rows import new_gap
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    CategoryFactory,
    CitationFactory,
    CollectionFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    FeedbackFactory,
    QuestionFactory,
    SiteFactory,
    UserFactory,
)
from tests.fakes.llm import FakeLLM
from tests.security.conftest import Watched
from tests.security.payloads import ADDRESSES, OWN, batches, payloads

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume"),  # static files, as ASGI has them
]
SHORT = OWN[:8]
LONG = 30_000


@pytest.fixture(autouse=True)
def _connections_end_with_their_work(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    settings.QUESTIONS_PER_MINUTE = settings.QUESTIONS_PER_MINUTE_AND_ADDRESS = 100_000


def say_all(conversation: Conversation) -> None:
    """Every payload as question and as answer, each answer with every address as a source's."""
    addresses = cycle(ADDRESSES)
    for number, text in enumerate(batches(8_000)):
        question = QuestionFactory(conversation=conversation, text=text)
        answer = AnswerFactory(question=question, text=f"{text} [1] [2]", rewritten=text, model=OWN[0])
        Message.objects.filter(pk=answer.pk).update(related=SHORT, choices={"options": [{"label": OWN[0]}]})
        for n in (1, 2):
            CitationFactory(
                message=answer,
                n=n,
                document=None,
                title=SHORT[number % len(SHORT)],
                url=next(addresses),
                heading=OWN[n],
                quote=text[:900],
            )
        FeedbackFactory(message=answer, value=-1, comment=text[:1_000], reasons=["wrong"])


# --- the student's side ---


def test_nothing_that_was_said_or_cited_runs_in_the_widget(watched: Watched) -> None:
    AssistantFactory(
        name=OWN[0][:100],
        welcome="\n".join(OWN),
        suggestions="\n".join(SHORT),
        contact_name=OWN[0],
        contact_url=ADDRESSES[0],
        contact_email="x@y?body=<b>",
    )
    page = watched.page
    watched.opens("/")
    watched.page.locator('[data-test="consent-agree"]').click()
    page.locator('[data-test="question"]').fill("How much is the fee?")
    page.locator('[data-test="send"]').click()
    messages = page.locator('[data-test="message"]')
    expect(messages.last).to_have_attribute("data-status", "abstained", timeout=LONG)
    conversation = Conversation.objects.get()
    say_all(conversation)
    Conversation.objects.update(title=OWN[0])
    page.reload()
    expect(messages).to_have_count(conversation.messages.count(), timeout=LONG)
    assert Citation.objects.count() == page.locator('[data-test="source"]').count()
    for link in page.locator('[data-test="source-link"]').all():
        assert (link.get_attribute("href") or "").startswith("https://www.uni.example/")
    watched.is_harmless("conversation")
    allowed = (
        "p,br,strong,em,del,code,pre,sup,ul,ol,li,blockquote,table,thead,tbody,tr,th,td,a.citation,a.tap,.answer-table"
    )
    said = page.locator(f":is(.answer-text, .question-text) :not({allowed})")
    assert said.evaluate_all("all => all.map(e => e.outerHTML)") == []
    for name in ("show-conversations", "settings"):
        page.locator(f'[data-test="{name}"]').click()
        watched.is_harmless(name)


def test_no_payload_of_a_question_an_answer_or_a_page_runs_while_it_is_written(watched: Watched, llm: FakeLLM) -> None:
    AssistantFactory()
    for number, text in enumerate(batches(1_500)[:6]):
        page = f"# Parking permit {SHORT[number]}\n\nA parking permit costs {number} euros. {text}"
        document = DocumentFactory(title=f"Parking {SHORT[number]}", text=page)
        Document.objects.filter(pk=document.pk).update(url=ADDRESSES[number])
        sync_document(document.pk)
    fee = "What does a parking permit cost? A parking permit costs 12 euros each semester."
    cited = DocumentFactory(title=f"Parking permit {OWN[0]}", text=f"# Parking permit {OWN[1]}\n\n{fee}")
    Document.objects.filter(pk=cited.pk).update(url=ADDRESSES[0])
    sync_document(cited.pk)
    page = watched.page
    watched.opens("/")
    page.locator('[data-test="consent-agree"]').click()
    answers = page.locator('[data-test="message"][data-role="assistant"]')
    texts = [*batches(1_500, before="What does a parking permit cost? ")[:12], "What does a parking permit cost?"]
    for number, text in enumerate(texts):
        llm.says_words(f"A parking permit costs 12 euros [1]. {text[33:]}", between=0.002)
        page.locator('[data-test="question"]').fill(text)
        page.locator('[data-test="send"]').click()
        expect(answers).to_have_count(number + 1, timeout=LONG)
        expect(answers.nth(number)).not_to_have_attribute("data-status", "generating", timeout=LONG)
    watched.is_harmless("answers")
    assert page.locator('[data-test="source"]').count()
    assert all(
        (link.get_attribute("href") or "").startswith("http")
        for link in page.locator('[data-test="source-link"]').all()
    )


# --- the staff's side ---


@pytest.fixture
def staff(watched: Watched) -> Watched:
    user = UserFactory(is_superuser=True, username="staff", first_name=OWN[0])
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    watched.page.context.add_cookies([{"name": "sessionid", "value": session, "url": watched.server.origin}])
    return watched


def path_of(row: object, what: str = "change") -> str:
    meta = row._meta  # type: ignore[attr-defined]
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{what}", args=[row.pk])  # type: ignore[attr-defined]


def list_of(model: str, **query: str) -> str:
    return f"{reverse(f'admin:{model}_changelist')}?{urlencode(query)}"


def log(*rows: object) -> None:
    """As if a member of staff had changed them."""
    user = UserFactory()
    for row in rows:
        kind = ContentType.objects.get_for_model(row)  # type: ignore[arg-type]
        changed = f'[{{"changed": {{"fields": ["title"], "name": "x", "object": "{quote(OWN[0])} {OWN[0]}"}}}}]'
        LogEntry.objects.create(
            user=user, content_type=kind, object_id=str(row.pk), object_repr=str(row)[:200],  # type: ignore[attr-defined]
            action_flag=CHANGE, change_message=changed,
        )  # fmt: skip


def test_no_conversation_runs_in_the_admin(staff: Watched) -> None:
    conversation = ConversationFactory(title=OWN[0], assistant=AssistantFactory(name=OWN[0][:100]))
    say_all(conversation)
    for text in SHORT:
        AnswerFactory(question=QuestionFactory(conversation=ConversationFactory(title=text), text=text), text=text)
    log(conversation)
    staff.opens(path_of(conversation))
    staff.opens(list_of("chat_conversation"))
    for text in batches(1_500)[:20]:
        staff.opens(list_of("chat_conversation", q=text))


def test_no_document_runs_in_the_admin(staff: Watched) -> None:
    collection = CollectionFactory(name=OWN[0])
    titled = [DocumentFactory(collection=collection, title=title) for title in batches(490)]
    for document, address in zip(titled, ADDRESSES, strict=False):
        Document.objects.filter(pk=document.pk).update(url=address)
    for number in range(-(-len(titled) // 50)):
        staff.opens(list_of("knowledge_document", p=str(number + 1)))
    for document in titled[: len(ADDRESSES)]:
        staff.opens(path_of(document))

    links = [{"text": text, "url": address} for text, address in zip(cycle(SHORT), ADDRESSES, strict=False)]
    for text in batches(15_000):
        document = DocumentFactory(title=text[:450], text="Before.", metadata={"references": links, text: text})
        document.text = f"# {text}\n\n| a |\n|---|\n| {text.splitlines()[0]} |\n\n<!-- page 1 -->\n\n[x][1] {text}"
        document.save()
        sync_document(document.pk)
        log(document)
        staff.opens(path_of(document))
        staff.opens(path_of(document, "versions"))
        staff.opens(path_of(document, "history"))
        staff.opens(path_of(document, "delete"))
        staff.opens(reverse("impact-document", args=[document.pk]))
    staff.opens(reverse("impact"))
    staff.opens(list_of("knowledge_collection"))
    staff.opens(path_of(collection, "delete"))
    staff.opens(reverse("admin:index"))


def test_no_file_and_no_crawled_page_runs_in_the_admin(staff: Watched) -> None:
    collection = CollectionFactory()
    source = Source.objects.create(name=OWN[0], collection=collection, start_urls=[ADDRESSES[0]])
    said = {"template": "the server answers with status {status}", "values": {"status": OWN[0]}}
    run = CrawlRun.objects.create(source=source, state="held", message=said, gone=3)
    for number, text in enumerate(batches(1_900)):
        document = DocumentFactory(collection=collection, title=text[:400])
        address = ADDRESSES[number % len(ADDRESSES)] + text
        CrawlOutcome.objects.create(run=run, kind="new", url=address[:2_000], document=document, reason=said)
    for text in batches(250):
        PdfUpload.objects.create(
            name=text, file="uploads/x.pdf", collection=collection, status="failed", remarks=[said]
        )
    staff.opens(path_of(run))
    staff.opens(list_of("knowledge_crawlrun"))
    staff.opens(path_of(source))
    staff.opens(list_of("knowledge_source"))
    for number in range(-(-PdfUpload.objects.count() // 50)):
        staff.opens(list_of("knowledge_pdfupload", p=str(number + 1)))


def test_no_faq_runs_in_the_admin(staff: Watched) -> None:
    documents = [DocumentFactory(title=text[:400]) for text in SHORT]
    category = CategoryFactory(name=OWN[0])
    made = [
        FAQFactory(question=text, phrasings=[text, text[::-1]], documents=documents[:2], category=category,
                   reference_answer=text)
        for text in batches(990)
    ]  # fmt: skip
    log(made[0])
    for number in range(-(-len(made) // 50)):
        staff.opens(list_of("faqs_faq", p=str(number + 1)))
    for faq in made[:5]:
        for what in ("change", "history", "delete"):
            staff.opens(path_of(faq, what))
    staff.opens(path_of(made[0]))
    staff.page.locator(".select2-selection").last.click()
    staff.page.locator(".select2-search__field").last.fill("img")
    expect(staff.page.locator(".select2-results__option", has_text="<img").first).to_be_visible()
    staff.is_harmless("choices of documents")
    staff.opens(list_of("faqs_faq", q=OWN[0], category__id__exact=str(category.pk)))


def test_no_gap_runs_in_the_admin(staff: Watched) -> None:
    texts = batches(1_900)
    document = DocumentFactory(title=OWN[0], text="\n".join(OWN))
    Document.objects.filter(pk=document.pk).update(url=ADDRESSES[0])
    sync_document(document.pk)
    gaps = [
        new_gap(SHORT[number % len(SHORT)], texts=(*texts[number::8], "img"), answered_by_document=document,
                answered_since=timezone.now() - timedelta(days=1), faq=FAQFactory(question=OWN[0], status="retired"))
        for number in range(8)
    ]  # fmt: skip
    log(gaps[0])
    staff.opens(list_of("analytics_gap"))
    for gap in gaps:
        staff.opens(path_of(gap))
    assert staff.page.get_by_role("link", name="Open the document").count()


def test_no_trial_and_no_search_runs_in_the_admin(staff: Watched, llm: FakeLLM) -> None:
    AssistantFactory()
    for text, address in zip(batches(3_000)[:10], ADDRESSES, strict=False):
        document = DocumentFactory(title=f"Parking {text[:200]}", text=f"# Parking {text}\n\nA permit costs. {text}")
        Document.objects.filter(pk=document.pk).update(url=address)
        sync_document(document.pk)
    for text in batches(1_500)[:6]:
        llm.says(f"A parking permit costs 1 euros [1]. {text}")
        staff.opens(f"{reverse('try-question')}?{urlencode({'question': f'What does parking cost? {text}'})}")
    for model in ("knowledge_document", "faqs_faq", "chat_conversation", "analytics_gap", "chat_site"):
        for text in batches(1_500)[:3]:
            staff.opens(list_of(model, q=text))


def test_no_site_and_no_assistant_runs_in_the_admin(staff: Watched) -> None:
    for text in SHORT:
        assistant = AssistantFactory(name=text[:100], institution=text, welcome=text, contact_url=ADDRESSES[0])
        site = SiteFactory(name=text[:100], assistant=assistant, greeting=text, privacy_url=ADDRESSES[0])
        log(site, assistant)
        for row in (site, assistant):
            for what in ("change", "history", "delete"):
                staff.opens(path_of(row, what))
    staff.opens(list_of("chat_site"))
    staff.opens(list_of("chat_assistant"))


@pytest.fixture
def _nothing_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.template.base.conditional_escape", str)


@pytest.mark.usefixtures("_nothing_is_escaped")
def test_a_page_that_escapes_nothing_would_be_found_out(staff: Watched) -> None:
    conversation = ConversationFactory()
    for text in SHORT:
        QuestionFactory(conversation=conversation, text=text)
    with pytest.raises(AssertionError, match=r"hacked|stopped|onerror|script"):
        staff.opens(path_of(conversation))
    assert staff.heard
    assert len(payloads()) >= len(OWN)
