"""Measures all that is told of a year on one made-up year of which everything is known (`year_data`).

A million messages of two assistants in two languages, with known topics, outcomes and right answers, and a planted drop
of quality. Told are: topics by V-measure beside k-means told the true number, in all and by language, and how long a
night takes that brings more than 10,000 distinct questions; the confusion matrix of outcomes; when the drop is noticed,
and what else; the dashboard's time beside that of an empty year.
"""

import datetime
import random
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import Count, F
from django.utils import timezone
from sklearn.cluster import KMeans

from analytics.counts.outcomes import OUTCOMES, with_outcome
from analytics.counts.refresh import count_changed
from analytics.counts.rephrasing import mark_rephrasings
from analytics.models import AskedVector, SampledAnswer, SampleVerdict
from analytics.quality.drops import notice_drops
from analytics.quality.judging import Verdict
from analytics.quality.sampling import REVIEWERS, draw_samples
from analytics.topics.run import update_topics
from benchmarks.gaps import measures
from benchmarks.measuring import say, table
from benchmarks.usage import REPEATS, pages
from benchmarks.usage_data import University, make_university
from benchmarks.year_data import Truth, add_year, embed, read_matters
from chat.models import Assistant, Conversation, Message
from core.hashing import fingerprint
from core.inference.embeddings import get_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY, QUICK = 1_000_000, 60_000
#: Of the newest questions there are vectors, as in a running system.
IN_TOPICS = 30_000
BATCH = 5_000
DAYS = 365
#: Years before anybody asked: the page of a year in which nothing happened.
EMPTY = datetime.date(2010, 1, 1), datetime.date(2010, 12, 31)
NONE = ""


def measure(data: Path | None, *, quick: bool) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds clinc150 and stackfaq-dev.")
        return {}
    today = timezone.localdate()
    first = today - datetime.timedelta(days=DAYS - 1)
    university = make_university()
    began = time.process_time()
    matters = read_matters(data, random.Random(2))
    vectors = embed(matters)
    embedded = time.process_time() - began
    say(f"{len(matters)} matters, {len(vectors):,} distinct questions, embedded in {embedded:.0f} s of CPU.")
    began = time.perf_counter()
    truth = add_year(university, matters, vectors, messages=QUICK if quick else MANY, first=first, last=today)
    say(f"{Message.objects.count():,} messages written in {time.perf_counter() - began:.0f} s.")
    found: dict[str, Any] = {"topics": tell_topics(truth, vectors), "outcomes": tell_outcomes(truth)}
    began = time.perf_counter()
    days = count_changed()
    say(f"\n{days} days counted in {time.perf_counter() - began:.0f} s.\n")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    shown = pages({"an empty year": span(*EMPTY), "the year": span(first, today)}, REPEATS)
    least = shown["an empty year"]["ms"]
    rows = [(name, row["queries"], f"{row['ms']:.0f}", f"{row['ms'] / least:.2f}") for name, row in shown.items()]
    table(("dashboard", "queries", "median, ms", "times an empty year"), rows)
    return found | {"dashboard": shown, "quality": tell_drops(truth, university, first)}


def span(first: datetime.date, last: datetime.date) -> dict[str, str]:
    return {"from": first.isoformat(), "to": last.isoformat()}


# --- topics ---


def tell_topics(truth: Truth, vectors: Mapping[str, "NDArray[np.float32]"]) -> dict[str, Any]:
    """Cluster the newest questions in two nights: all but a thirtieth, and then these."""
    asked = Message.objects.filter(role=Message.Role.USER, route=Message.Route.QUESTION).order_by("-pk")
    texts = dict(asked.values_list("pk", "text")[:IN_TOPICS])
    order = np.random.default_rng(0).permutation(list(texts)).tolist()
    nights: dict[str, float] = {}
    for name, part in (("the first night", order[len(order) // 30 :]), ("the next night", order[: len(order) // 30])):
        _add_vectors({pk: texts[pk] for pk in part}, vectors)
        began, began_cpu = time.perf_counter(), time.process_time()
        new = update_topics()
        nights[name] = round(time.perf_counter() - began, 1)
        say(
            f"{name}: {len(part):,} questions, {len({texts[pk] for pk in part}):,} distinct, {new} new topics, in"
            f" {nights[name]:.0f} s, {time.process_time() - began_cpu:.0f} s of CPU."
        )
    rows = [row for pk in Assistant.objects.values_list("pk", flat=True) for row in _compared(pk, truth, vectors)]
    say()
    table(("assistant", "language", "questions", "matters", "found", "V", "V of k-means"), rows)
    return {"nights": nights, "clusterings": rows}


def _add_vectors(texts: Mapping[int, str], vectors: Mapping[str, "NDArray[np.float32]"]) -> None:
    """Keep the vectors of questions, as they are within minutes of the question, and see which ask again."""
    embedder = get_embedder()
    keys = sorted(texts)
    for begin in range(0, len(keys), BATCH):
        part = keys[begin : begin + BATCH]
        AskedVector.objects.bulk_create(
            AskedVector(
                message_id=pk,
                recipe=embedder.recipe,
                of=fingerprint(embedder.recipe, texts[pk]),
                embedding=vectors[texts[pk]],
            )
            for pk in part
        )
        mark_rephrasings(embedder, part)


def _compared(assistant: int, truth: Truth, vectors: Mapping[str, "NDArray[np.float32]"]) -> list[tuple[Any, ...]]:
    """Compare the topics of distinct questions with k-means told the true number; a question in none is one alone.

    k-means gets the same questions, and of a language its clusters of all of them.
    """
    asked = AskedVector.objects.filter(message__conversation__assistant=assistant)
    placed = dict(asked.values_list("message__text", F("message__topic_question__topic")))
    texts = sorted(placed)
    matters = [truth.topics[text] for text in texts]
    topics = [placed[text] or -place for place, text in enumerate(texts, start=1)]
    units = np.stack([vectors[text] for text in texts])
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    means = KMeans(len(set(matters)), n_init=10, random_state=0).fit_predict(units).tolist()
    rows = []
    for language in ("", "en", "de"):
        at = [place for place, text in enumerate(texts) if language in ("", truth.languages[text])]
        about, own, other = ([each[place] for place in at] for each in (matters, topics, means))
        v, v_means = measures(about, own)["v"], measures(about, other)["v"]
        rows.append((assistant, language or "both", len(at), len(set(about)), len(set(own)), v, v_means))
    return rows


# --- outcomes ---


def tell_outcomes(truth: Truth) -> dict[str, Any]:
    """Compare what became of the conversations of which all questions have vectors."""
    oldest = AskedVector.objects.order_by("message").values_list("message", "message__conversation")
    first, cut = oldest[0]
    newer = Message.objects.filter(pk__gte=first).exclude(conversation=cut).values("conversation")
    complete = Conversation.objects.filter(pk__in=newer)
    found = dict(with_outcome(complete).values_list("pk", "outcome"))
    matrix = Counter((truth.outcomes[pk], outcome) for pk, outcome in found.items())
    names = (*OUTCOMES, NONE)
    rows = [(made or "none", *(matrix[made, other] for other in names), _share(matrix, made, 0)) for made in names]
    rows.append(("precision", *(_share(matrix, other, 1) for other in names), ""))
    say()
    table(("made / found", *(name or "none" for name in names), "recall"), rows)
    right = sum(count for (made, other), count in matrix.items() if made == other) / len(found)
    say(f"\n{right:.3f} of {len(found):,} conversations.")
    return {"right": round(right, 3), "matrix": {f"{one} / {two}": n for (one, two), n in sorted(matrix.items())}}


def _share(matrix: Counter[tuple[str, str]], name: str, side: int) -> str:
    every = sum(count for pair, count in matrix.items() if pair[side] == name)
    return f"{matrix[name, name] / every:.3f}" if every else ""


# --- quality ---


def tell_drops(truth: Truth, university: University, first: datetime.date) -> list[dict[str, Any]]:
    """Draw the sample of each night, have it judged as is known, and see on which mornings a drop is noticed."""
    judges = [get_user_model().objects.create(username=f"judge-{number}") for number in range(REVIEWERS)]
    noticed: list[tuple[int, datetime.date]] = []
    began = time.perf_counter()
    for number in range(DAYS):
        day = first + datetime.timedelta(days=number)
        draw_samples(day)
        SampleVerdict.objects.bulk_create(
            SampleVerdict(answer=row, by=judge, verdict=_verdict(row, truth))
            for row in SampledAnswer.objects.filter(day=day)
            for judge in judges
        )
        noticed += [(drop.assistant_id, day) for drop in notice_drops()]
    assert truth.drop is not None
    begins, ends = truth.drop
    rows = []
    for place, assistant in enumerate(university.assistants):
        days = [day for pk, day in noticed if pk == assistant.pk]
        planted = [day for day in days if place == 0 and begins <= day <= ends]
        row = {
            "assistant": assistant.name,
            "sampled": SampledAnswer.objects.filter(assistant=assistant).aggregate(count=Count("pk"))["count"],
            "planted drop noticed after nights": (planted[0] - begins).days + 1 if planted else "none planted",
            "false notices in the year": len(days) - len(planted),
        }
        rows.append(row)
    if rows[0]["planted drop noticed after nights"] == "none planted":
        rows[0]["planted drop noticed after nights"] = "not noticed"
    say()
    table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    say(f"\n{DAYS} nights drawn, judged and looked at in {time.perf_counter() - began:.0f} s.")
    return rows


def _verdict(row: SampledAnswer, truth: Truth) -> Verdict:
    is_wrong = row.message_id in truth.wrong
    if row.is_shown:
        return Verdict.WRONG if is_wrong else Verdict.RIGHT
    return Verdict.SHOULD_ANSWER if is_wrong else Verdict.RIGHTLY_ABSTAINED
