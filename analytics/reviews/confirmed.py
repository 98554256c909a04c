"""Confirms which FAQ a reviewed question means: matching learns from it (`faqs.matching`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from analytics.models import Review
from analytics.privacy import anonymised_texts, standalone_text
from chat.models import Message
from chat.pipeline.question import build_question
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from faqs.models import FAQ, AnswerPage, FAQQuerySet, FAQSource
from faqs.permissions import may_publish
from faqs.retriever import match
from faqs.services import confirm_question, forget_question
from knowledge.indexing.generations import live_generation
from knowledge.retrieval.query_vectors import question_vector
from knowledge.retrieval.scope import UnknownCollection, build_scope
from knowledge.retrieval.types import Query, Scope

if TYPE_CHECKING:
    from core.access import Staff

#: FAQs that are offered.
OFFERED = 6
#: What says that no FAQ is about the question.
NONE = "none"


@dataclass(frozen=True, slots=True)
class Meant:
    """Choices for confirming: (FAQ's id, its question), the one matched then first; `chosen` is what was confirmed."""

    faqs: Sequence[tuple[str, str]]
    chosen: str


def may_confirm(user: "Staff") -> bool:
    """Return whether one may say which FAQ is meant, which changes what students get."""
    return user.has_perm("analytics.change_review") and may_publish(user)


def offer(review: Review, answer: Message, user: "Staff") -> Meant | None:
    """Return the FAQs that the question may mean; None if it has none, or they cannot be looked up."""
    question = answer.question
    if question is None or not question.text:
        return None
    try:
        near = _match(review, standalone_text(question))
    except (EmbeddingUnavailable, UnknownCollection):
        return None
    confirmed = review.confirmed
    chosen = "" if confirmed is None else str(confirmed.faq_id or NONE)
    first = [pk for pk in (confirmed.faq_id if confirmed else None, answer.faq_id) if pk]
    order = list(dict.fromkeys([*first, *near]))
    own = FAQ.objects.visible_to(user).published().in_bulk(order)
    return Meant([(str(pk), own[pk].question) for pk in order if pk in own], chosen)


def list_meanable(review: Review, user: "Staff") -> FAQQuerySet:
    """Return the published FAQs of one's own teams that lead to a page in which the review's assistant searches."""
    searched = searched_collections(review)
    sources, pages = (
        rows.filter(document__collection__in=searched) for rows in (FAQSource.objects, AnswerPage.objects)
    )
    leading = Q(pk__in=sources.order_by().values("faq")) | Q(pk__in=pages.order_by().values("faq"))
    return FAQ.objects.visible_to(user).published().filter(leading)


@transaction.atomic
def confirm_meaning(*, review_id: int, meant: str, by: "Staff") -> None:
    """Save which FAQ (its id) a question means, NONE, or, empty, that nobody knows; it takes the place of what was said
    before. Raise ValidationError, Review.DoesNotExist.
    """
    review = Review.objects.select_for_update(of=("self",), no_key=True).get(pk=review_id)
    question = review.message.question
    if question is None:
        raise ValidationError(_("There is no question any more."))
    faq = None
    if meant not in {"", NONE}:
        is_id = meant.isdecimal() and len(meant) < 19
        faq = list_meanable(review, by).filter(pk=int(meant)).first() if is_id else None
        if faq is None:
            said = _(
                "This FAQ cannot be chosen: it is not published, or it leads to no page in which this assistant "
                "searches. Nothing was changed."
            )
            raise ValidationError(said)
    if review.confirmed:
        forget_question(question=review.confirmed)
    made = None
    if meant:
        text = anonymised_texts([question])[0]
        made = confirm_question(text=text, faq=faq, collections=searched_collections(review), by=by)
    Review.objects.filter(pk=review.pk).update(confirmed=made, confirmed_by_verdict=False)


def searched_collections(review: Review) -> tuple[int, ...]:
    """Return the collections in which the review's assistant searches."""
    return _scope(review).collection_ids


def _scope(review: Review) -> Scope:
    return build_scope(build_question(review.assistant, "", review.language or "en").collections)


def _match(review: Review, text: str) -> list[int]:
    generation = live_generation()
    vector = question_vector(generation.model, text)
    query = Query(text, vector, generation.pk, generation.model, get_embedder(generation.model).scale)
    found = match(query, scope=_scope(review), faqs=OFFERED, learned=True)
    return list(dict.fromkeys(each.faq_id for each in found))
