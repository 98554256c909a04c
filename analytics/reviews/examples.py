"""Examples that verdicts give to the matching of FAQs: a right answer's question means the FAQ that it relied on."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from analytics.models import Review
from analytics.privacy import anonymised_texts
from analytics.reviews.confirmed import list_meanable, may_confirm, searched_collections
from chat.models import Citation, Message
from chat.pipeline.tuning import LEAST_ANSWER_CONFIDENCE
from faqs.matching.confirmed import Confirmation
from faqs.models import FAQ, AnswerPage, FAQSource
from faqs.retriever import confidence
from faqs.services import confirm_questions, forget_question

if TYPE_CHECKING:
    from core.access import Staff

RIGHT = Review.Verdict.CORRECT_ANSWER


def learn_from_verdicts(*, reviews: Sequence[Review], before: Mapping[int, str], by: "Staff") -> None:
    """Confirm the questions of answers that are right now, and take back what a verdict before confirmed.

    `reviews` are locked rows as they are saved, `before` their earlier verdicts by id. What staff said of a question
    themselves is left alone, and who may not publish confirms nothing.
    """
    for review in reviews:
        if review.verdict != RIGHT and review.confirmed_by_verdict:
            if review.confirmed:
                forget_question(question=review.confirmed)
            review.confirmed, review.confirmed_by_verdict = None, False
            review.save(update_fields=["confirmed", "confirmed_by_verdict"])
    _confirm([each for each in reviews if each.verdict == RIGHT != before[each.pk]], by)


def _confirm(reviews: Sequence[Review], by: "Staff") -> None:
    meant = find_taught(reviews, by)
    taught = [review for review in reviews if review.pk in meant]
    if not taught:
        return
    answers = Message.objects.select_related("question").in_bulk([review.message_id for review in taught])
    texts = anonymised_texts([_question(answers[review.message_id]) for review in taught])
    confirmations = [
        Confirmation(text, meant[review.pk], searched_collections(review))
        for text, review in zip(texts, taught, strict=True)
    ]
    for review, question in zip(taught, confirm_questions(confirmations=confirmations, by=by), strict=True):
        review.confirmed, review.confirmed_by_verdict = question, True
    Review.objects.bulk_update(taught, ["confirmed", "confirmed_by_verdict"])


def find_taught(reviews: Collection[Review], by: "Staff") -> dict[int, FAQ]:
    """Return, by the review's id, the FAQ that its question is confirmed for where the answer is judged as right.

    Reviews are left out whose answer surely relied on no FAQ, or on one that the member may not choose, or of which
    staff said already what their question means.
    """
    if not may_confirm(by):
        return {}
    asked = [review for review in reviews if review.confirmed_id is None]
    relied = find_relied([review.message_id for review in asked])
    groups: dict[tuple[int | None, str], list[Review]] = defaultdict(list)
    for review in asked:
        if review.message_id in relied:
            groups[review.assistant_id, review.language].append(review)
    taught = {}
    for own in groups.values():
        wanted = {relied[review.message_id] for review in own}
        may_mean = list_meanable(own[0], by).in_bulk(wanted)
        taught.update({each.pk: may_mean[pk] for each in own if (pk := relied[each.message_id]) in may_mean})
    return taught


def find_relied(answers: Collection[int]) -> dict[int, int]:
    """Return, by the answer's id, the FAQ that it surely relied on.

    The FAQ was as close as one must be whose written answer is shown, and its written answer was shown or one of its
    pages cited.
    """
    steered = Message.objects.filter(pk__in=answers, status=Message.Status.COMPLETE, question__isnull=False)
    rows = steered.exclude(faq=None).exclude(question__text="").values_list("pk", "faq", "faq_similarity", "office")
    close = [row for row in rows if confidence(row[2] or 0.0) >= LEAST_ANSWER_CONFIDENCE]
    if not close:
        return {}
    pages = _pages_of({faq for _pk, faq, *_others in close})
    cited = defaultdict(set)
    citations = Citation.objects.filter(message__in=[pk for pk, *_others in close]).order_by()
    for answer, document in citations.values_list("message", "document"):
        cited[answer].add(document)
    return {pk: faq for pk, faq, _similarity, office in close if office or cited[pk] & pages[faq]}


def _pages_of(faqs: Collection[int]) -> dict[int, set[int]]:
    pages = defaultdict(set)
    for rows in (FAQSource.objects, AnswerPage.objects):
        for faq, document in rows.filter(faq__in=faqs).order_by().values_list("faq", "document"):
            pages[faq].add(document)
    return pages


def _question(answer: Message) -> Message:
    if answer.question is None:  # `find_relied` left it out
        raise Message.DoesNotExist
    return answer.question


def describe_lesson(before: Review, saved: Review) -> str:
    """Say what was learned from a verdict, or taken back; empty if nothing was."""
    if saved.confirmed_by_verdict and saved.confirmed and saved.confirmed.faq and not before.confirmed_by_verdict:
        said = _("Learned: the next question like this one is matched to the FAQ “%(faq)s”.")
        return said % {"faq": saved.confirmed.faq.question}
    if before.confirmed_by_verdict and not saved.confirmed_by_verdict:
        return _("Taken back: questions like this one are no longer matched to an FAQ because of its verdict.")
    return ""
