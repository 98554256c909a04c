"""The answers that staff wrote in German and in English: what they say differently, when saved and in the list.

They are the two answers of one FAQ, or those of two FAQs that ask the same, each in its language.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from django.db.models import F
from django.utils.translation import gettext as _

from analytics.contradictions.collect import Texts, document_key
from analytics.contradictions.comparison.languages import Differing, compare_answers, read_answer
from analytics.contradictions.comparison.scope import are_read_together, differ
from analytics.contradictions.comparison.statements import Source
from analytics.contradictions.detection import Found
from core.inference.embeddings.ensemble import JOINED, multilingual_part
from core.inference.embeddings.language_means import centre
from faqs.answers.checks import Warned
from faqs.models import FAQ, AnswerPage, FAQVector
from knowledge.chunking.plain_text import make_plain
from knowledge.indexing.generations import live_generation

#: The least cosine of two questions that may be translations of each other, if each is also the nearest one of its
#: language to the other. Of 30 translated questions 23 are found with it; two that share the name of a programme alone
#: had 0.66, and others at most 0.54. What the answers then say differently must stand in sentences that are alike.
LEAST_COSINE = 0.55


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
    """Yield what two answers to one question say differently; with `documents`, if one of them is one of these."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, source in enumerate(texts.sources):
        places[source.owner].append(place)

    def compare(pair: tuple[int, ...]) -> list[Differing]:
        one, other = (read_answer(texts.sources, places[document_key(pk)]) for pk in pair)
        return compare_answers(one, other)

    for pair in _of_one_faq(documents):
        yield from (Found(*each) for each in compare(pair))
    for pair in _of_two_faqs(documents):
        for one, other, difference in compare(pair):
            sides = texts.sources[one.source], texts.sources[other.source]
            if are_read_together(*sides) and not differ(one, other, texts.sources):
                yield Found(one, other, difference)


def read_other_languages(documents: Collection[int]) -> set[int]:
    """Return the answers (documents) to the same questions in all languages."""
    return {pk for pair in (*_of_one_faq(documents), *_of_two_faqs(documents)) for pk in pair}


def _of_one_faq(documents: Collection[int] | None) -> list[tuple[int, ...]]:
    """Return the documents of two answers of one FAQ each, of all FAQs or those with one of these documents."""
    pages = AnswerPage.objects.order_by("faq", "language")
    if documents is not None:
        pages = pages.filter(faq__in=AnswerPage.objects.filter(document__in=documents).values("faq"))
    of_faq: dict[int, list[int]] = defaultdict(list)
    for faq, document in pages.values_list("faq", "document"):
        of_faq[faq].append(document)
    return [pair for each in of_faq.values() for pair in combinations(each, 2)]


def _of_two_faqs(documents: Collection[int] | None) -> list[tuple[int, ...]]:
    """Return the documents of the answers of two FAQs whose questions translate each other, in two languages.

    Each FAQ has an answer in its own language alone. There are none where other models than the built-in ones embed.
    """
    generation = live_generation()
    is_answered = documents is None or AnswerPage.objects.filter(document__in=documents).exists()
    if generation.model != JOINED or not is_answered:
        return []
    in_both = AnswerPage.objects.exclude(language=F("faq__language")).values("faq")
    asked = FAQVector.objects.filter(generation=generation, kind=FAQVector.Kind.ASKS, text=F("faq__question"))
    rows = asked.filter(faq__pages__language=F("faq__language")).exclude(faq__in=in_both).order_by("faq")
    questions: dict[str, dict[int, Any]] = {"de": {}, "en": {}}
    for language, document, vector in rows.values_list("faq__language", "faq__pages__document", "embedding"):
        questions[language][document] = vector
    if not all(questions.values()):
        return []
    german, english = (
        centre(multilingual_part(np.array(list(each.values()), np.float32)), [language] * len(each))
        for language, each in questions.items()
    )
    cosines = german @ english.T
    there, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    keys = [list(each) for each in questions.values()]
    pairs = [
        (keys[0][one], keys[1][other])
        for one, other in enumerate(there.tolist())
        if back[other] == one and cosines[one, other] >= LEAST_COSINE
    ]
    return [pair for pair in pairs if documents is None or not set(pair).isdisjoint(documents)]
