"""The public page of an answer that staff wrote, which sources and citations open."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone, translation
from django.views.decorators.http import require_safe

from core.language import format_day
from faqs.answers.links import link_addresses
from faqs.answers.signature import sign
from faqs.models import FAQ, AnswerPage
from knowledge.indexing.flags import has_withheld
from knowledge.models import Document
from knowledge.rendering import is_safe_link, render_markdown
from knowledge.views import BIGGEST_ID, mark_as_page

#: For readers of that language.
IN_OTHER = {"de": "Auf Deutsch", "en": "In English"}


@require_safe
def answer_page(request: HttpRequest, faq_id: int, language: str) -> HttpResponse:
    """Show an answer word for word while its FAQ is published and valid and nothing of it is withheld."""
    if faq_id > BIGGEST_ID:
        raise Http404
    valid = FAQ.objects.published().valid_on(timezone.localdate()).filter(pk=faq_id)
    pages = {page.language: page for page in AnswerPage.objects.filter(faq__in=valid).select_related("faq", "document")}
    if language not in pages or has_withheld(pages[language].document):
        raise Http404
    faq = pages[language].faq
    documents = Document.objects.published().valid_on(timezone.localdate()).of_university()
    linked = documents.filter(faq_sources__faq=faq).defer("text").order_by("faq_sources__position")
    with translation.override(language):
        other = next((code for code in pages if code != language), "")
        context = {
            "faq": faq,
            "title": pages[language].document.title,
            "language": language,
            "said_in": language,
            "signature": sign(faq.office(language), faq.answer_checked_on, language),
            "valid_until": format_day(faq.valid_until, language) if faq.valid_until else "",
            "html": render_markdown(link_addresses(faq.written_answers[language]), breaks=True),
            "other": other,
            "in_other": IN_OTHER.get(other, ""),
            "documents": [each for each in linked if is_safe_link(each.url)],
        }
        response = render(request, "faqs/answer.html", context)
    return mark_as_page(response, language)
