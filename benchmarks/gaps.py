"""Measures how well students' questions are clustered, and how long 10,000 of them take.

V-measure (Rosenberg and Hirschberg 2007) against the intents of `clinc150` and the FAQs of `stackfaq-dev`, beside
k-means told the true number of clusters and HDBSCAN, on the same vectors. The threshold is set on the curated
phrasings of `clinc150`, which are none of its questions. Across languages: translations of questions that are no part
of `analytics.gaps.clustering`.
"""

import itertools
import json
import os
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import homogeneity_completeness_v_measure

from analytics.gaps.clustering import average_link, cluster_vectors, measured_bridge, to_cosine
from analytics.gaps.detection import SIMILARITY
from analytics.gaps.run import work_on
from analytics.models import Gap, GapRun
from benchmarks.measuring import resident_mib, say, table
from chat.models import Assistant, Conversation, Message, Visitor
from core.inference.embeddings import get_embedder

TUNED_ON = "clinc150, phrasings"
#: Of thresholds whose V-measure is this close to the best, the highest is taken: a gap of two meanings costs staff more
#: than two gaps of one.
CLOSE = 0.005
THRESHOLDS = tuple(round(0.36 + 0.02 * step, 2) for step in range(18))
#: HDBSCAN's smallest cluster; 2 and 3 are what suits questions that few ask.
SMALLEST = (2, 3, 5)
MANY = 10_000
TRANSLATED = (
    ("When do I get my exam results?", "Wann bekomme ich meine Prüfungsergebnisse?"),
    ("Can I switch my minor subject?", "Kann ich mein Nebenfach wechseln?"),
    ("Is there a discount for the theatre?", "Gibt es Ermäßigung für das Theater?"),
    ("Where is the lost and found office?", "Wo ist das Fundbüro?"),
    ("How do I register for a language course?", "Wie melde ich mich zu einem Sprachkurs an?"),
    ("What happens if I fail an exam three times?", "Was passiert, wenn ich dreimal durch eine Prüfung falle?"),
    ("Can I pay the fees in instalments?", "Kann ich die Gebühren in Raten zahlen?"),
    ("Who signs my internship agreement?", "Wer unterschreibt meinen Praktikumsvertrag?"),
    ("Are there lockers in the library?", "Gibt es Schließfächer in der Bibliothek?"),
    ("How do I found a student club?", "Wie gründe ich eine Hochschulgruppe?"),
    ("May I record a lecture?", "Darf ich eine Vorlesung aufnehmen?"),
    ("Where can I donate blood?", "Wo kann ich Blut spenden?"),
    ("Does the university have a choir?", "Hat die Universität einen Chor?"),
    ("How do I report a broken projector?", "Wie melde ich einen kaputten Beamer?"),
    ("Can my parents visit a lecture?", "Können meine Eltern eine Vorlesung besuchen?"),
    ("Which software do students get for free?", "Welche Software bekommen Studierende kostenlos?"),
)

Labels = Sequence[Any]
Cluster = Callable[["np.ndarray[Any, Any]"], Labels]


def measure(data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds clinc150 and stackfaq-dev.")
        return {}
    embedder = get_embedder()
    sets = {name: (texts, truth) for name, texts, truth in labelled(data)}
    started = time.perf_counter()
    vectors = {name: embedder.embed_questions(texts) for name, (texts, _truth) in sets.items()}
    embedded = sum(map(len, vectors.values()))
    seconds_each = (time.perf_counter() - started) / embedded
    chosen = threshold_for(vectors[TUNED_ON], sets[TUNED_ON][1])
    results: dict[str, Any] = {
        "threshold": {"chosen_here": chosen, "in_use": SIMILARITY},
        "clusterings": [row for name, (_texts, truth) in sets.items() for row in compared(name, vectors[name], truth)],
        "translations": translations(),
        "many": many(np.concatenate(list(vectors.values())), seconds_each),
        "look": look_at(*sets[TUNED_ON], *sets["clinc150"], *sets["stackfaq-dev"]),
    }
    report(results)
    return results


def labelled(data: Path) -> list[tuple[str, list[str], list[str]]]:
    """(name, questions, what each is about)."""
    sets = []
    for name in ("clinc150", "stackfaq-dev"):
        folder = data / name
        texts = {row["_id"]: row["text"] for row in map(json.loads, (folder / "queries.jsonl").open())}
        rows = [line.split("\t") for line in (folder / "qrels.tsv").read_text().splitlines()[1:]]
        about = {question: document for question, document, _score in reversed(rows)}
        known = [question for question in texts if question in about]
        sets.append((name, [texts[question] for question in known], [about[question] for question in known]))
    faqs = json.loads((data / "clinc150" / "faqs.json").read_text())
    asked = [(text, faq["id"]) for faq in faqs for text in (faq["question"], *faq["phrasings"])]
    return [(TUNED_ON, [text for text, _faq in asked], [faq for _text, faq in asked]), *sets]


def threshold_for(vectors: "np.ndarray[Any, Any]", truth: Labels) -> float:
    """Return the highest similarity whose V-measure is `CLOSE` to the best."""
    found = {each: measures(truth, average_link(vectors, threshold=cosine(each)))["v"] for each in THRESHOLDS}
    return max(each for each, v in found.items() if v >= max(found.values()) - CLOSE)


def cosine(similarity: float) -> float:
    return to_cosine(get_embedder().scale.questions, similarity)


def compared(name: str, vectors: "np.ndarray[Any, Any]", truth: Labels) -> list[dict[str, Any]]:
    count = len(set(truth))
    ways: dict[str, Cluster] = {
        f"ours, {SIMILARITY}": lambda rows: average_link(rows, threshold=cosine(SIMILARITY)),
        f"k-means, k = {count}": lambda rows: KMeans(count, n_init=10, random_state=0).fit_predict(rows),
    }
    for smallest in SMALLEST:
        ways[f"HDBSCAN, {smallest}, noise alone"] = lambda rows, smallest=smallest: alone(
            HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(rows)
        )
        ways[f"HDBSCAN, {smallest}, noise as one"] = lambda rows, smallest=smallest: HDBSCAN(
            min_cluster_size=smallest, copy=True
        ).fit_predict(rows)
    rows = []
    for way, cluster in ways.items():
        started = time.perf_counter()
        labels = cluster(vectors)
        seconds = round(time.perf_counter() - started, 2)
        found = {"set": name, "questions": len(truth), "classes": count, "way": way, "clusters": len(set(labels))}
        rows.append(found | measures(truth, labels) | {"seconds": seconds})
    return rows


def alone(labels: "np.ndarray[Any, Any]") -> Labels:
    """Each question that HDBSCAN calls noise as a cluster of its own: as a gap of one question."""
    noise = np.flatnonzero(labels < 0)
    separate = labels.copy()
    separate[noise] = labels.max() + 1 + np.arange(len(noise))
    return separate


def measures(truth: Labels, labels: Labels) -> dict[str, float]:
    found = homogeneity_completeness_v_measure(truth, labels)
    return {name: round(value, 3) for name, value in zip(("homogeneity", "completeness", "v"), found, strict=True)}


def translations() -> dict[str, Any]:
    """Count translated pairs that are one gap, and others that are, with the bridge between languages and without."""
    embedder = get_embedder()
    texts = [english for english, _german in TRANSLATED] + [german for _english, german in TRANSLATED]
    languages = ["en"] * len(TRANSLATED) + ["de"] * len(TRANSLATED)
    vectors = embedder.embed_questions(texts)
    bridge = measured_bridge(embedder.embed_questions)
    ways = {
        "with the bridge": cluster_vectors(vectors, languages, threshold=cosine(SIMILARITY), bridge=bridge),
        "without": average_link(vectors, threshold=cosine(SIMILARITY)),
    }
    count = len(TRANSLATED)
    found = {}
    for way, labels in ways.items():
        same = labels[:, None] == labels[None, :]
        right = int(sum(same[place, place + count] for place in range(count)))
        wrong = int(np.triu(same, 1).sum()) - right
        found[way] = {"pairs": count, "together": right, "wrong": wrong}
    return found


def many(vectors: "np.ndarray[Any, Any]", seconds_each: float) -> dict[str, Any]:
    """10,000 vectors made of real ones: one plus half the difference of two others, half of them as if German."""
    random = np.random.default_rng(0)
    first, second, third = random.integers(0, len(vectors), (3, MANY))
    made = vectors[first] + 0.5 * (vectors[second] - vectors[third])
    made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    languages = random.choice(["en", "de"], MANY).tolist()
    embedder = get_embedder()
    bridge = measured_bridge(embedder.embed_questions)
    found: dict[str, Any] = {"questions": MANY, "embedding_seconds_each": round(seconds_each, 4)}
    before = resident_mib()
    for name, of_language in (("one language", ["en"] * MANY), ("two languages", languages)):
        started = time.perf_counter()
        labels = cluster_vectors(made, of_language, threshold=cosine(SIMILARITY), bridge=bridge)
        found[name] = {"clusters": len(set(labels.tolist())), "seconds": round(time.perf_counter() - started, 1)}
    return found | {"mib_more": round(resident_mib() - before, 1), "threads": os.environ.get("OMP_NUM_THREADS")}


def look_at(*parts: Labels) -> dict[str, Any]:
    """Seconds of a whole look at 10,000 questions in the database: the first, which embeds them, and the next."""
    texts = [text for questions in parts[::2] for text in questions]
    assistant = Assistant.objects.create(slug="bench", name="Bench", institution="Bench")
    visitor = Visitor.objects.create()
    place = Conversation.objects.create(pk=uuid.uuid4(), visitor=visitor, assistant=assistant)
    # Each text comes back with another number in front: a question of its own to the model, and none to the reader.
    asked = Message.objects.bulk_create(
        Message(conversation=place, role="user", client_id=uuid.uuid4(), text=f"{number // len(texts)} {text}")
        for number, text in zip(range(MANY), itertools.cycle(texts), strict=False)
    )
    Message.objects.bulk_create(
        Message(conversation=place, role="assistant", question=question, status="abstained") for question in asked
    )
    found: dict[str, Any] = {}
    for name in ("first", "next"):
        started = time.perf_counter()
        run = GapRun.objects.enqueue()
        work_on(run.pk)
        found[name] = round(time.perf_counter() - started, 1)
    return found | {"gaps": Gap.objects.count(), "embedding_threads": settings.EMBEDDING_THREADS}


def report(results: dict[str, Any]) -> None:
    chosen = results["threshold"]
    say(f"Threshold found on {TUNED_ON}: {chosen['chosen_here']}; in use: {chosen['in_use']}.\n")
    head = ("set", "questions", "classes", "way", "clusters", "homogeneity", "completeness", "V", "s")
    table(head, ([*row.values()] for row in results["clusterings"]))
    say()
    rows = ([way, *found.values()] for way, found in results["translations"].items())
    table(("translations", "pairs", "together", "wrong"), rows)
    found = results["many"]
    say(
        f"\n{found['questions']:,} vectors: one language {found['one language']['seconds']} s, two languages "
        f"{found['two languages']['seconds']} s, {found['mib_more']} MiB more; embedding took "
        f"{found['embedding_seconds_each'] * 1000:.1f} ms a question, once."
    )
    found = results["look"]
    say(f"A whole look at {MANY:,} questions: {found['first']} s the first time, {found['next']} s the next.")
