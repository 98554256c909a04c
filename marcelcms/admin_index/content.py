"""Open tasks about FAQs, pages and sources."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import ngettext

from analytics.models import Contradiction
from chat.conversations.impact import stale_documents
from faqs.models import FAQ
from knowledge.models import Correction, CrawlRun, FlaggedText, PdfUpload, Source
from marcelcms.admin_index.pending import PendingCount, list_url, news_start

if TYPE_CHECKING:
    from django.contrib.auth.models import User

FAQS, CRAWLS = "faqs_faq", "knowledge_crawlrun"


def pending_content(user: "User") -> Iterator[PendingCount]:
    """Yield what of FAQs, pages, sources and PDFs waits for somebody with the user's rights."""
    if user.has_perm("faqs.change_faq"):
        faqs = FAQ.objects.visible_to(user).of_university()
        yield PendingCount(
            faqs.expiring(),
            lambda n: ngettext("%d FAQ ends within 14 days.", "%d FAQs end within 14 days.", n),
            list_url(FAQS, valid="soon"),
        )
        yield PendingCount(
            faqs.with_expired_answer(),
            lambda n: ngettext(
                "%d FAQ has expired: students no longer see its answer.",
                "%d FAQs have expired: students no longer see their answers.",
                n,
            ),
            list_url(FAQS, valid="expired", documents="written", status__exact=FAQ.Status.PUBLISHED.value),
        )
        yield PendingCount(
            faqs.with_changed_sources(),
            lambda n: ngettext("%d FAQ to check: its page changed.", "%d FAQs to check: their pages changed.", n),
            list_url(FAQS, documents="changed"),
        )
    if user.has_perm("knowledge.change_document"):
        yield PendingCount(
            Contradiction.objects.visible_to(user).open(),
            lambda n: ngettext(
                "%d contradiction between pages, FAQs and answers.",
                "%d contradictions between pages, FAQs and answers.",
                n,
            ),
            reverse("contradictions"),
        )
        yield PendingCount(
            stale_documents().visible_to(user),
            lambda n: ngettext(
                "%d changed page to check: FAQs or recent answers use it.",
                "%d changed pages to check: FAQs or recent answers use them.",
                n,
            ),
            reverse("impact"),
        )
        yield PendingCount(
            Correction.objects.in_conflict().visible_to(user),
            lambda n: ngettext(
                "%d corrected page changed at its source: what is right?",
                "%d corrected pages changed at their sources: what is right?",
                n,
            ),
            list_url("knowledge_document", corrected="conflict"),
        )
    if user.has_perm("knowledge.change_flaggedtext"):
        yield PendingCount(
            FlaggedText.objects.visible_to(user).to_check(),
            lambda n: ngettext(
                "%d passage is withheld from answers until you check it.",
                "%d passages are withheld from answers until you check them.",
                n,
            ),
            list_url("knowledge_flaggedtext", state__exact=FlaggedText.State.OPEN.value),
        )
    if user.has_perm("knowledge.crawl_source"):
        yield PendingCount(
            CrawlRun.objects.visible_to(user).filter(state=CrawlRun.State.HELD),
            lambda n: ngettext(
                "%d website visit waits for your decision.", "%d website visits wait for your decision.", n
            ),
            list_url(CRAWLS, state__exact=CrawlRun.State.HELD.value),
        )
        yield PendingCount(
            Source.objects.visible_to(user).with_failed_crawl(),
            lambda n: ngettext(
                "%d website could not be read last time.", "%d websites could not be read last time.", n
            ),
            list_url("knowledge_source", crawl="failed"),
        )
    if user.has_perm("knowledge.add_document"):
        since = news_start()
        failed = PdfUpload.objects.visible_to(user).filter(status=PdfUpload.Status.FAILED, created_at__gte=since)
        yield PendingCount(
            failed,
            lambda n: ngettext(
                "%d file was not imported in the last 7 days.", "%d files were not imported in the last 7 days.", n
            ),
            list_url("knowledge_pdfupload", status__exact=PdfUpload.Status.FAILED.value, created_at__gte=since),
        )
