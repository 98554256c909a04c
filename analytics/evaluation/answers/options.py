"""Options for answering a run's questions, and the search for an interrupted run; loads nothing heavy."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.utils import timezone

from analytics.evaluation.answers.judge_prompts import VERSION
from analytics.models import EvaluationRun, EvaluationSet
from chat.models.assistants import default_assistant
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.profiles import Profile
from core.db.locks import Lock, advisory_lock
from core.hashing import fingerprint
from core.inference.embeddings import configured_model

State = EvaluationRun.State
#: A run that was interrupted longer ago is not resumed: pages change.
FRESH = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """`sample` questions (None: all) get `samples` answers each; `memory` asks follow-ups without history too."""

    sample: int | None = None
    samples: int = 1
    memory: bool = False

    @classmethod
    def of(cls, run: EvaluationRun) -> Self:
        """Read the options of a run whose questions are answered."""
        return cls(**{name: value for name, value in (run.answering or {}).items() if name != "recipe"})

    def as_row(self, profile: Profile) -> dict[str, Any]:
        """Return what `EvaluationRun.answering` holds. Its recipe keeps answers of one kind in one run."""
        ask = build_question(default_assistant(), "", "en")
        template = ask.template
        legs = [f"{leg.retriever.origin} {leg.weight} {leg.k}" for leg in profile.legs]
        plan = f"{profile.plan.fusion} {profile.plan.rerank_first} {profile.plan.protect_faqs}"
        recipe = fingerprint(
            *(settings.LLM_BASE_URL, settings.LLM_MODEL, settings.JUDGE_BASE_URL, settings.JUDGE_MODEL, VERSION),
            *(template.system, template.question, ask.persona, str(ask.sampling)),
            *(configured_model(), settings.RERANKER_MODEL, str(profile.sources), str(profile.threshold), plan, *legs),
        )
        return asdict(self) | {"recipe": recipe}


def broken_off(evaluation_set: EvaluationSet, profile: Profile, options: AnswerOptions) -> EvaluationRun | None:
    """Return the newest run of that kind that was killed or failed lately and that no process works on."""
    runs = evaluation_set.runs.filter(
        profile=profile.name,
        answering=options.as_row(profile),
        state__in=(State.RUNNING, State.FAILED),
        heartbeat_at__gte=timezone.now() - FRESH,
    )
    found = runs.first()
    if found is None:
        return None
    with advisory_lock(Lock.EVALUATION_RUN, row=found.pk) as is_free:
        return found if is_free else None
