"""Chooses the office for a question, by the rules that staff set."""

from collections.abc import Collection, Sequence

from chat.models import Conversation, Message, Office, OfficeRule
from faqs.models import FAQ
from knowledge.models import Document


def list_offices(conversation: Conversation) -> list[Office]:
    """Return the offices that take questions of the conversation's assistant, with their hours."""
    offices = Office.objects.filter(assistant=conversation.assistant_id, is_active=True)
    return list(offices.prefetch_related("hours"))


def choose_office(conversation: Conversation, answer: Message | None, offices: Sequence[Office]) -> Office | None:
    """Return the office of the first rule that fits, else the one that takes the rest, else the first; None if none."""
    rules = OfficeRule.objects.filter(office__in=offices).order_by("position", "pk")
    categories, page = _topics(answer), _first_page(answer)
    by_id = {office.pk: office for office in offices}
    for rule in rules:
        if _fits(rule, categories, conversation.audience, page):
            return by_id[rule.office_id]
    return next((office for office in offices if office.is_default), offices[0] if offices else None)


def _fits(rule: OfficeRule, categories: Collection[int], audience: Collection[str], page: str) -> bool:
    return (
        (rule.category_id is None or rule.category_id in categories)
        and (not rule.audience or rule.audience in audience)
        and (not rule.page or page.startswith(rule.page))
    )


def _topics(answer: Message | None) -> set[int]:
    """Return the category of the FAQ that steered the answer, or of the closest one that it offered."""
    if answer is None:
        return set()
    faqs = FAQ.objects.exclude(category=None)
    if answer.faq_id is not None:
        return set(faqs.filter(pk=answer.faq_id).values_list("category", flat=True))
    return set(faqs.filter(question__in=answer.related[:1]).values_list("category", flat=True))


def _first_page(answer: Message | None) -> str:
    """Return the address of the page that was cited first, or else found first."""
    if answer is None:
        return ""
    cited = answer.citations.order_by("n").values_list("url", flat=True).first()
    if cited:
        return cited
    found = [row["document"] for row in answer.retrieved[:1]]
    return Document.objects.filter(pk__in=found).values_list("url", flat=True).first() or ""
