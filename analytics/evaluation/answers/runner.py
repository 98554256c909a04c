"""Answers a run's questions with the pipeline that serves students, and measures the replies.

Each question's replies are stored once they are measured, so that a run that was killed goes on where it was.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings

from analytics.evaluation.answers import configured, judge_prompts
from analytics.evaluation.answers.options import AnswerOptions
from analytics.evaluation.answers.scoring import Measurer, Said
from analytics.evaluation.answers.summary import Answered, summed_up
from analytics.evaluation.datasets import sampled
from analytics.evaluation.metrics.answers import missing
from analytics.evaluation.metrics.text import MODEL as TOKEN_MODEL
from analytics.evaluation.metrics.text import has_wordnet
from analytics.models import EvaluationQuestion, EvaluationRun
from chat.models.assistants import default_assistant
from chat.pipeline.question import Question, build_question
from chat.pipeline.reply import Reply
from chat.pipeline.retrieval.profiles import Profile
from chat.pipeline.run import collect
from core.inference.embeddings import configured_model
from core.inference.llm import client
from core.jobs import Heartbeat
from knowledge.chunking.plain_text import make_plain
from knowledge.indexing.generations import live_generation
from knowledge.models import Passage
from knowledge.retrieval.query_vectors import forget_vectors

#: The caller's name in the language model's queue, so that students do not wait behind all its requests.
CALLER = "evaluation"
#: End of a quote that was cut.
CUT = " …"


def answer_questions(
    run: EvaluationRun, questions: Sequence[EvaluationQuestion], profile: Profile, heartbeat: Heartbeat
) -> dict[str, Any]:
    """Return the `answers` of the run's results; its `question_results` are there, and get what they lack.

    Raise JobStopped, JudgeUnavailable, EmbeddingUnavailable, RerankerUnavailable.
    """
    options = AnswerOptions.of(run)
    strata = [(question.answerable, bool(question.history)) for question in questions]
    chosen = [questions[place] for place in sampled(strata, options.sample)]
    rows = {row.question_id: row for row in run.question_results.filter(question__in=chosen)}
    run.beat(done=0, total=len(chosen))
    with asyncio.Runner() as runner:
        answering = _Answering(run, profile, options, runner)
        try:
            for done, question in enumerate(chosen):
                row = rows[question.pk]
                if row.answer is None:
                    replies = []
                    for ask in answering.asks(question):
                        heartbeat.step(done, len(chosen))
                        replies.append(answering.reply(question, ask))
                    row.answer = answering.record(question, replies)
                    row.save(update_fields=["answer"])
                heartbeat.step(done + 1, len(chosen))
        finally:
            answering.close()
    return _summary([(question, rows[question.pk].answer or {}) for question in chosen], options)


class _Answering:
    """The state that all questions of a run share."""

    def __init__(self, run: EvaluationRun, profile: Profile, options: AnswerOptions, runner: asyncio.Runner) -> None:
        self._profile, self._options, self._runner = profile, options, runner
        self._assistant = default_assistant()
        self._collections = tuple(run.evaluation_set.collections.values_list("slug", flat=True))
        self._measurer = Measurer()

    def asks(self, question: EvaluationQuestion) -> Iterator[Question]:
        """Yield the requests with the question's history, then those without."""
        history = tuple((str(role), str(text)) for role, text in question.history)
        for turns in [history, ()] if self._options.memory and history else [history]:
            for _sample in range(self._options.samples):
                yield replace(
                    build_question(self._assistant, question.text, "en"),
                    history=turns,
                    collections=self._collections,
                    profile=self._profile,
                    caller=CALLER,
                    as_question=not self._profile.reads_sentences,
                )

    def reply(self, question: EvaluationQuestion, ask: Question) -> dict[str, Any]:
        """Ask the pipeline, and return the reply with its measures."""
        forget_vectors()  # what a student waits for is measured
        started = time.perf_counter()
        reply = self._runner.run(collect(ask))
        seconds = time.perf_counter() - started
        if reply.end is None:
            raise RuntimeError("an answer came without its last event")
        first = (reply.end.timings_ms or {}).get("first_token")
        said = Said(
            question.text, question.reference, reply.text, bool(reply.reason), reply.end.strategy, cited_texts(reply)
        )
        declined, measures = self._runner.run(self._measurer.measure(said))
        return {
            "text": reply.text,
            "abstained": bool(reply.reason),
            "declined": declined,
            "reason": reply.reason,
            "rewritten": reply.end.rewritten or None,
            "strategy": reply.end.strategy,
            "model": reply.end.model,
            "notice": reply.end.notice,
            "evidence": reply.end.evidence,
            "citations": [asdict(source) for source, _document in reply.sources],
            "seconds": seconds,
            "first_token_seconds": None if first is None else first / 1000,
            "measures": measures,
        }

    def record(self, question: EvaluationQuestion, replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return what `QuestionResult.answer` holds; `replies` are those to `asks`."""
        perplexity = self._runner.run(self._measurer.reference_perplexity(question.text, question.reference))
        count = self._options.samples
        return {"replies": replies[:count], "without_history": replies[count:], "perplexity": perplexity}

    def close(self) -> None:
        self._runner.run(self._measurer.close())


def cited_texts(reply: Reply) -> list[str]:
    """Return the passages that a reply cites; the quote alone if no passage has it."""
    documents = {document for _source, document in reply.sources}
    rows = Passage.objects.filter(document__in=documents, generation=live_generation())
    texts: dict[int, list[tuple[str, str]]] = {}
    for document, text in rows.values_list("document", "text"):
        texts.setdefault(document, []).append((text, make_plain(text)))
    found = []
    for source, document in reply.sources:
        quote = source.quote.removesuffix(CUT)
        found.append(next((text for text, bare in texts.get(document, ()) if quote in bare), quote))
    return list(dict.fromkeys(found))


def _summary(
    answered: Sequence[tuple[EvaluationQuestion, Mapping[str, Any]]], options: AnswerOptions
) -> dict[str, Any]:
    """Return the `answers` of the contract."""
    found = summed_up(
        [
            Answered(
                question.answerable,
                bool(question.history),
                record["replies"],
                record["without_history"],
                record["perplexity"],
            )
            for question, record in answered
        ],
        memory=options.memory,
    )
    replies = [reply for _question, record in answered for reply in (*record["replies"], *record["without_history"])]
    has_judge, has_model = configured.is_configured(), client.is_configured()
    reasons = missing(
        found["all"],
        has_references=any(question.reference for question, _record in answered),
        has_wordnet=has_wordnet(),
        has_cross_encoder=bool(settings.RERANKER_MODEL),
        has_judge=has_judge,
        has_model=has_model,
    )
    return {
        **found,
        "model": ", ".join(sorted({reply["model"] for reply in replies if reply["model"]})) or None,
        "judge": settings.JUDGE_MODEL if has_judge else None,
        "judge_prompts": judge_prompts.VERSION if has_judge else None,
        "models": {
            "bertscore": TOKEN_MODEL,
            "cosine": configured_model(),
            "cross_encoder_similarity": settings.RERANKER_MODEL or None,
        },
        "samples": options.samples,
        # The endpoint failed, so that sentences were quoted or the answer broke off.
        "model_failures": sum(bool(reply["notice"]) for reply in replies),
        "judge_failures": sum(has_judge and reply["measures"]["judge_correctness"] is None for reply in replies),
        "unavailable": reasons,
    }
