"""Measures of answers: their names, reasons for missing ones, and faithfulness by words; pure."""

from collections.abc import Mapping, Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from analytics.evaluation.answers.judge_prompts import SCORES
from core.terms import content_words
from knowledge.chunking.sentences import split_sentences

#: Against a reference answer.
REFERENCE = (
    *("rouge1", "rouge2", "rouge3", "rouge4", "rougel", "bleu", "meteor", "meteor_exact_stem"),
    *("bertscore_precision", "bertscore_recall", "bertscore_f1", "answer_cosine", "cross_encoder_similarity"),
    "perplexity",
)
#: Against the question and what was cited; `_overlap` and `_cosine` stand in where there is no judge.
GROUNDED = ("faithfulness", "faithfulness_overlap", "answer_relevance", "relevance_cosine")
JUDGED = tuple(f"judge_{name}" for name in SCORES)
MEASURES = (*REFERENCE, *GROUNDED, *JUDGED, "words")
LABELS: Mapping[str, str | Promise] = {
    "answered": _("answered"),
    "abstained": _("no answer given"),
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rouge3": "ROUGE-3",
    "rouge4": "ROUGE-4",
    "rougel": "ROUGE-L",
    "bleu": "BLEU",
    "meteor": "METEOR",
    "meteor_exact_stem": _("METEOR (exact, stem)"),
    "bertscore_precision": "BERTScore P",
    "bertscore_recall": "BERTScore R",
    "bertscore_f1": "BERTScore F1",
    "answer_cosine": _("cosine to the reference answer"),
    "cross_encoder_similarity": _("cross-encoder similarity"),
    "perplexity": _("perplexity of the reference answer"),
    "faithfulness": _("faithfulness"),
    "faithfulness_overlap": _("faithfulness, by words"),
    "answer_relevance": _("answer relevance"),
    "relevance_cosine": _("cosine to the question"),
    "judge_correctness": _("correctness (1 to 5)"),
    "judge_completeness": _("completeness (1 to 5)"),
    "judge_relevance": _("relevance (1 to 5)"),
    "judge_faithfulness": _("faithfulness (1 to 5)"),
    "judge_clarity": _("clarity (1 to 5)"),
    "words": _("words"),
}
NO_WORDNET = gettext_noop("NLTK finds no WordNet on this machine.")
NO_CROSS_ENCODER = gettext_noop("No reranking model is set up (RERANKER_MODEL).")
NO_JUDGE = gettext_noop("No model that judges answers is set up (JUDGE_BASE_URL, JUDGE_MODEL).")
NO_MODEL = gettext_noop("No language model is configured: answers are quoted.")
NO_PROBABILITIES = gettext_noop("The language model’s endpoint does not tell the probabilities of a prompt’s tokens.")
NO_REFERENCE = gettext_noop("No question has a reference answer.")


def missing(
    values: Mapping[str, float | None],
    *,
    has_references: bool,
    has_wordnet: bool,
    has_cross_encoder: bool,
    has_judge: bool,
    has_model: bool,
) -> dict[str, str]:
    """Return why measures have no value, by name; `values` are those of all questions."""
    because = dict.fromkeys(REFERENCE, "" if has_references else NO_REFERENCE)
    if has_references:
        because |= {
            "meteor": "" if has_wordnet else NO_WORDNET,
            "cross_encoder_similarity": "" if has_cross_encoder else NO_CROSS_ENCODER,
            "perplexity": NO_PROBABILITIES if has_model else NO_MODEL,
        }
    because |= dict.fromkeys(("faithfulness", "answer_relevance", *JUDGED), "" if has_judge else NO_JUDGE)
    return {name: reason for name, reason in because.items() if reason and values.get(name) is None}


def split_claims(answer: str) -> list[str]:
    """Split an answer into sentences, as RAGAS into statements; `answer` has no markers of sources."""
    return [sentence for sentence in split_sentences(answer) if content_words(sentence)]


def faithfulness_overlap(claims: Sequence[str], passages: Sequence[str]) -> float | None:
    """Return the mean share of a claim's terms that are in the cited passages; None without a claim.

    Words, not entailment: a claim that turns a sentence into its opposite counts as held.
    """
    held = set().union(*(content_words(passage) for passage in passages))
    shares = [len(content_words(claim) & held) / len(content_words(claim)) for claim in claims]
    return sum(shares) / len(shares) if shares else None
