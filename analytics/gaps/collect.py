"""Selection of the questions without a good answer, and their vectors."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from django.db.models import Q, QuerySet

from analytics.gaps.clustering import Bridge
from analytics.models import Gap, GapQuestion
from analytics.privacy import anonymised_texts, mask_pii, standalone_text
from chat.models import Message
from core.inference.embeddings import Embedder
from core.language import detect_language

#: The newest questions alone are clustered: with them a run takes half a minute and some 200 MB.
MOST = 20_000
BATCH = 256
#: Questions embedded at once: the model releases the interpreter lock meanwhile.
THREADS = 2
UNANSWERED = Q(answer__status__in=(Message.Status.ABSTAINED, Message.Status.FAILED)) & ~Q(answer__reason="abuse")
BADLY_RATED = Q(answer__feedback__value=-1)


def asked_in_vain() -> QuerySet[Message]:
    """Select questions of students that were not answered, or whose answer was rated as bad; never a cry for help."""
    return Message.objects.filter(UNANSWERED | BADLY_RATED, role=Message.Role.USER).without_help()


def central_questions(gap: Gap, count: int) -> list[str]:
    """Return the most central questions of a gap, condensed and anonymised, the most central one first."""
    rows = gap.questions.order_by("-centrality", "pk").values_list("message", flat=True)[:count]
    messages = Message.objects.select_related("answer").in_bulk(list(rows))
    return anonymised_texts([messages[pk] for pk in rows if pk in messages])


def collect(embedder: Embedder, bridge: Bridge, *, progress: Callable[[int, int], None]) -> int:
    """Bring the questions and their vectors up to date; return how many were embedded.

    What was embedded is saved batch by batch, so that a run that was broken off goes on where it was. `progress`
    gets (done, of).
    """
    wanted = set(asked_in_vain().order_by("-pk").values_list("pk", flat=True)[:MOST])
    known = dict(GapQuestion.objects.values_list("message_id", "recipe"))
    GapQuestion.objects.filter(message__in=known.keys() - wanted).delete()
    missing = sorted(pk for pk in wanted if known.get(pk) != embedder.recipe)
    with ThreadPoolExecutor(THREADS, "gap-vectors") as pool:
        for begin in range(0, len(missing), BATCH):
            progress(begin, len(missing))
            _embed(missing[begin : begin + BATCH], embedder, bridge, pool)
    return len(missing)


def _embed(ids: list[int], embedder: Embedder, bridge: Bridge, pool: ThreadPoolExecutor) -> None:
    messages = list(Message.objects.filter(pk__in=ids).select_related("answer").order_by("pk"))
    # Personal data is masked, so that it cannot be read from the vector either.
    texts = [mask_pii(standalone_text(message)) for message in messages]
    size = -(-len(texts) // THREADS) or 1
    parts = [texts[begin : begin + size] for begin in range(0, len(texts), size)]
    vectors = [vector for part in pool.map(embedder.embed_questions, parts) for vector in part]
    GapQuestion.objects.bulk_create(
        (
            GapQuestion(
                message=message,
                language=detect_language(text) or bridge.find_language(vector),
                embedding=vector.astype(np.float16).tobytes(),
                recipe=embedder.recipe,
            )
            for message, text, vector in zip(messages, texts, vectors, strict=True)
        ),
        update_conflicts=True,
        unique_fields=["message"],
        update_fields=["language", "embedding", "recipe"],
    )
