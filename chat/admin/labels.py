"""What codes in the record mean, for people."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ORIGINS: Mapping[str, str | Promise] = {
    "lexical": _("Same words (BM25)"),
    "dense": _("Same meaning (vectors)"),
    "dense-sentence": _("Same meaning (sentences)"),
    "dense-proposition": _("Same meaning (propositions)"),
    "hyde": _("Same meaning as a guessed answer (HyDE)"),
    "faq": _("Curated FAQs"),
}
REASONS: Mapping[str, str | Promise] = {
    "nothing_found": _("No page was found at all."),
    "no_evidence": _("The pages that were found are too far from the question."),
    "model_declined": _("The language model found no answer in the pages."),
    "ungrounded": _("What the language model wrote stands on none of the pages."),
    "unsupported": _("The language model wrote figures, links or statements that no cited page holds."),
    "leaked": _("The language model told its instructions instead of an answer."),
    "abuse": _("Abuse: no page was looked at."),
    "interrupted": _("The server stopped while the answer was being written."),
}
NOTICES: Mapping[str, str | Promise] = {
    "model_unavailable": _("The language model did not answer, so pages were quoted instead."),
    "timeout": _("The language model took too long."),
    "busy": _("The language model had too much to do."),
    "unreachable": _("The language model could not be reached."),
    "garbage": _("The language model sent something that is no answer."),
    "cut_off": _("The language model broke off."),
    "endless": _("The language model did not stop writing."),
    "huge": _("The language model sent far too much at once."),
    "circuit_open": _("The language model had failed several times in a row and was left alone for a moment."),
    "words_only": _("The embedding model did not answer, so only words were compared."),
    "not_reranked": _("The reranker did not answer, so the passages were not put in order by it."),
    "window_too_small": _("The question and its sources are too long for the language model (LLM_CONTEXT_TOKENS)."),
    "queue_full": _("Too many students were waiting for the language model."),
    "queue_timeout": _("The language model was busy with other students for too long."),
}
STEPS: Mapping[str, str | Promise] = {
    "understood": _("reading the chat so far"),
    "embed": _("understanding the question"),
    "lexical": _("search by words"),
    "dense": _("search by meaning"),
    "dense-sentence": _("search by sentences"),
    "dense-proposition": _("search by propositions"),
    "hyde": _("search by a guessed answer"),
    "faq": _("search in FAQs"),
    "rerank": _("putting the first in order"),
    "retrieval": _("all searching"),
    "first_token": _("until the first word"),
    "total": _("until the end"),
}


def label(names: Mapping[str, str | Promise], code: str) -> str:
    """Its meaning, or the code itself where nobody has named it."""
    return str(names.get(code, code))


def timings(milliseconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """In the order of the work."""
    known = [step for step in STEPS if step in milliseconds]
    return [(label(STEPS, step), milliseconds[step]) for step in [*known, *(set(milliseconds) - set(known))]]
