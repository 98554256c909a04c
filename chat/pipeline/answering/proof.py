"""The proof of a model's sentences: each against the passages that it cites, by words and by meaning."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.sentences.unit_vectors import compute_vectors, unit_vectors
from chat.pipeline.verification.alignment import make_candidates
from chat.pipeline.verification.classifier import Strictness
from chat.pipeline.verification.planted import is_planted
from chat.pipeline.verification.units import split_units
from chat.pipeline.verification.verify import Meaning, Passage, Reason, Verdict, choose_passage, verify
from chat.protocol.shapes import Contact
from core.inference import verifier
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.entailment.model import EntailmentModel, get_entailment_model
from core.telemetry.tracing import span
from knowledge.chunking.sentences import sentence_spans
from knowledge.guardrails.injection import flag_document

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Least probability by which the second judge agrees.
LEAST_LIKELY = 0.5
#: What a sentence that names the assistant's contact is compared with.
CONTACT = "If you have questions, you can contact {0} at {1}."


class Prover:
    """Proves one answer's sentences against the candidates of its prompt.

    What a passage says to the model instead of its readers proves nothing and is never quoted, nor what was planted in
    it. A sentence that only names the assistant's `contact` needs no page.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        *,
        language: str,
        strictness: Strictness,
        contact: Contact | None = None,
    ) -> None:
        self._candidates = candidates
        self._language, self._strictness = language, strictness
        self._passages = [Passage(without_orders(each.text), each.full_title, each.heading) for each in candidates]
        self._addresses = [each for each in (contact.email, contact.url) if each] if contact else []
        name = f"the {contact.name}" if contact and contact.name else "us"
        self._contact = Passage(CONTACT.format(name, " or on ".join(self._addresses)))
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._meaning: Meaning | None = None
        self._entailment: EntailmentModel | None = None
        self._prepare()

    def prove(self, sentence: str, numbers: Sequence[int]) -> tuple[Verdict, Candidate | None]:
        """Return the verdict on a sentence and the candidate that it was compared with.

        `numbers` are the candidates that it cites; without one, the candidate that supports it best is taken.
        """
        with span("check a sentence"):
            try:
                verdict, candidate = self._prove(sentence, numbers)
            except EmbeddingUnavailable:
                self._meaning = self._entailment = None
                verdict, candidate = self._prove(sentence, numbers)
            return (judge_again(verdict, sentence, candidate) if candidate else verdict), candidate

    def _prove(self, sentence: str, numbers: Sequence[int]) -> tuple[Verdict, Candidate | None]:
        places = [place for place, each in enumerate(self._candidates) if each.number in numbers]
        if not places:
            best = choose_passage(sentence, self._passages, meaning=self._meaning)
            places = [] if best is None else [best]
        passages = [self._passages[place] for place in places]
        verdict = verify(
            sentence, passages, language=self._language, strictness=self._strictness, meaning=self._meaning
        )
        if not verdict.is_supported and self._names_contact(sentence):
            return Verdict(True, 1.0, is_connective=True), None
        if verdict.passage is None:
            return verdict, None
        place = places[verdict.passage]
        if self._entailment and is_planted(verdict.unit, self._passages[place], self._entailment.planted_logit):
            verdict = replace(verdict, is_supported=False, reasons=(Reason("subject"),), unit="")
        return verdict, self._candidates[place]

    def _names_contact(self, sentence: str) -> bool:
        """Return whether a sentence only tells whom to ask."""
        if not any(address in sentence for address in self._addresses):
            return False
        verdict = verify(
            sentence, [self._contact], language=self._language, strictness=self._strictness, meaning=self._meaning
        )
        return verdict.is_supported

    def _prepare(self) -> None:
        """Compute the vectors of all units. If one of the models is away, words alone are compared."""
        texts = [
            each.text
            for passage in self._passages
            for each in make_candidates(split_units(passage.text, passage.title, passage.heading))
        ]
        try:
            self._vectors = unit_vectors.compute(texts)
            self._entailment = get_entailment_model()
        except EmbeddingUnavailable:
            return
        self._meaning = Meaning(self._look_up, self._entailment.logit)

    def _look_up(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of a sentence and of units; the sentence's is forgotten with the answer."""
        if new := [text for text in texts if text not in self._vectors]:
            self._vectors.update(compute_vectors(new))
        return np.stack([self._vectors[text] for text in texts])


def judge_again(verdict: Verdict, sentence: str, candidate: Candidate) -> Verdict:
    """Ask the second judge, if there is one, about a sentence that passed the check; it can only reject.

    The page's own words need no judge.
    """
    if not verdict.is_supported or sentence.strip() == verdict.unit:
        return verdict
    likely = verifier.probability(f"{candidate.label}\n{verdict.unit}", sentence)
    if likely is None or likely >= LEAST_LIKELY:
        return verdict
    return replace(verdict, is_supported=False, reasons=(Reason("not_entailed"),))


@lru_cache(maxsize=2048)
def without_orders(text: str) -> str:
    """Return a passage without the sentences that address the model."""
    if not flag_document(text):
        return text
    kept, done = "", 0
    for start, end in sentence_spans(text):
        kept += text[done:start]
        kept += "" if flag_document(text[start:end]) else text[start:end]
        done = end
    return kept if not flag_document(kept) else ""
