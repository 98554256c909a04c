"""The answers that staff wrote in German and in English: what they say differently, when saved and in the list."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations

from django.utils.translation import gettext as _

from analytics.contradictions.collect import Texts, document_key
from analytics.contradictions.comparison.languages import compare_answers, read_answer
from analytics.contradictions.comparison.statements import Source
from analytics.contradictions.detection import Found
from faqs.answers.checks import Warned
from faqs.models import FAQ, AnswerPage
from knowledge.chunking.plain_text import make_plain


def warn_of_languages(*, faq: FAQ, **_given: object) -> list[Warned]:
    """Receive `answer_checked`: return what the German answer says otherwise than the English one."""
    texts = faq.written_answers
    if len(texts) < 2:
        return []
    sources = [Source("", faq.question, (), texts[code], code) for code in ("de", "en")]
    said = _("“%(sentence)s” – the answer in English says otherwise: “%(words)s” Check which of them is right.")
    return [
        Warned("de", said % {"sentence": make_plain(one.unit.text), "words": make_plain(other.unit.text)})
        for one, other, _difference in compare_answers(read_answer(sources, [0]), read_answer(sources, [1]))
    ]


def find_between_languages(texts: Texts, documents: Collection[int] | None = None) -> Iterator[Found]:
    """Yield what two answers of one FAQ say differently; with `documents`, only if one of them is one of these."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, source in enumerate(texts.sources):
        places[source.owner].append(place)
    for pair in _read_pairs(documents):
        one, other = (read_answer(texts.sources, places[document_key(pk)]) for pk in pair)
        yield from (Found(*each) for each in compare_answers(one, other))


def read_other_languages(documents: Collection[int]) -> set[int]:
    """Return the answers (documents) of the same FAQs in all languages."""
    return {pk for pair in _read_pairs(documents) for pk in pair}


def _read_pairs(documents: Collection[int] | None) -> list[tuple[int, ...]]:
    """Return the documents of two answers of one FAQ each, of all FAQs or those with one of these documents."""
    pages = AnswerPage.objects.order_by("faq", "language")
    if documents is not None:
        pages = pages.filter(faq__in=AnswerPage.objects.filter(document__in=documents).values("faq"))
    of_faq: dict[int, list[int]] = defaultdict(list)
    for faq, document in pages.values_list("faq", "document"):
        of_faq[faq].append(document)
    return [pair for each in of_faq.values() for pair in combinations(each, 2)]
