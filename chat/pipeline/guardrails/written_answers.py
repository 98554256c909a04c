"""Warns staff of decisions about a person in their own answers, and of figures that pages contradict."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from chat.pipeline.answering.proof import Prover
from chat.pipeline.guardrails.eligibility import decisions
from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.retrieval.evidence import measure_evidence, without_documents
from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from chat.pipeline.verification.classifier import Strictness
from core.inference.embeddings import EmbeddingUnavailable
from core.terms import figures
from faqs.answers.checks import Warned
from faqs.models import FAQ
from knowledge.chunking.plain_text import make_plain
from knowledge.chunking.sentences import split_sentences
from knowledge.guardrails.injection import flag_document
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope

#: Passages that are searched for the FAQ's question, and those that an answer is compared with.
SEARCHED, COMPARED = 40, 8
#: Doubts of the check of sentences that mean another figure or day.
OTHER_FIGURE = {"figure", "date"}


def warn(*, faq: FAQ, with_pages: bool, **_given: object) -> list[Warned]:
    """Receive `answer_checked`: return what to look at again, most serious first; the answers may not be saved yet."""
    return [
        Warned(language, message)
        for language, text in faq.written_answers.items()
        for message in _list(faq, language, text, with_pages)
    ]


def _list(faq: FAQ, language: str, text: str, with_pages: bool) -> Iterator[str]:
    for sentence in decisions(text):
        said = _("“%(sentence)s” reads like a decision about one person. Write instead who decides, and on what terms.")
        yield said % {"sentence": make_plain(sentence)}
    if flag_document(text):
        yield _(
            "It seems to give orders to a program. Students do not see it until somebody has cleared it "
            "under “Suspicious passages”."
        )
    if with_pages:
        yield from _contradictions(faq, language, text)


def _contradictions(faq: FAQ, language: str, text: str) -> Iterator[str]:
    sentences = [sentence for sentence in split_sentences(text) if figures(sentence)]
    if not sentences or not (candidates := _find_pages(faq)):
        return
    prover = Prover(candidates, language=language, strictness=Strictness.STRICT)
    for sentence in sentences:
        verdict, candidate = prover.prove(sentence, [])
        if candidate and verdict.unit and any(reason.kind in OTHER_FIGURE for reason in verdict.reasons):
            said = _("“%(sentence)s” – the page “%(page)s” says otherwise: “%(words)s” Check which of them is right.")
            yield said % {"sentence": make_plain(sentence), "page": candidate.title, "words": verdict.unit}


def _find_pages(faq: FAQ) -> Sequence[Candidate]:
    """Return the closest passages of the linked documents; without any, of the pages if they could answer the question.

    A page about something else contradicts nothing.
    """
    linked = set(faq.sources.values_list("document", flat=True)) if faq.pk else set()
    collections = [faq.collection.slug] if faq.collection else ()
    profile = PROFILES["default"]
    try:
        found = retrieve_with(profile, faq.question, scope=build_scope(collections), k=SEARCHED, guesses=())
    except EmbeddingUnavailable:
        return ()
    if linked:
        return load_candidates([hit for hit in found.hits if hit.document_id in linked][:COMPARED])
    shown = {hit.document_id for run in found.runs.values() for hit in run}
    own = set(Document.objects.filter(pk__in=shown, is_written_answer=True).order_by().values_list("pk", flat=True))
    pages = load_candidates([hit for hit in found.hits if hit.document_id not in own][:COMPARED])
    evidence = measure_evidence(faq.question, without_documents(found, own), pages)
    return pages if evidence >= profile.threshold else ()
