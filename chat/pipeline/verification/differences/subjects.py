"""Of what a sentence speaks, where its unit speaks of something else of that sort; pure."""

from collections.abc import Sequence

from chat.pipeline.verification.alignment import Alignment, Candidate, has_word
from chat.pipeline.verification.differences.figures import find_nearer_figure, find_other_column
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts
from chat.pipeline.verification.words import alternatives, read_words


def compare_subjects(
    found: Differences,
    sentence: Facts,
    unit: Facts,
    whole: Facts,
    passage: Facts,
    alignment: Alignment,
    candidates: Sequence[Candidate],
) -> None:
    clashes = soft = 0
    for group in alternatives():
        ours = {n for n, keys in enumerate(group) if keys & sentence.keys}
        theirs = {n for n, keys in enumerate(group) if keys & whole.keys}
        if ours and theirs and not ours <= theirs:
            clashes += 1
            found.doubt(
                "subject", " ".join(sorted(k for n in ours - theirs for k in group[n] if not k.startswith("#")))
            )
        elif ours and not theirs and any(keys & passage.keys for keys in group):
            soft += 1
    found.add("alternative_conflicts", min(clashes, 2))
    found.add("alternative_missing", min(soft, 2))
    best = alignment.best
    # A word that another row, column or item has and this one lacks says that the sentence is about that one.
    missing = [word for word in sentence.content if not has_word(word, whole.keys)]
    rivals = 0.0
    labels = 0.0
    for word in missing:
        for other in candidates:
            if other.unit is best.unit and other.text == best.text:
                continue
            if has_word(word, other.own.keys):
                rivals += 1
                if other.unit.cells:
                    heads = frozenset(k for name, _ in other.unit.cells for w in read_words(name) for k in w.keys)
                    label = frozenset(k for w in read_words(other.unit.label) for k in w.keys)
                    if word.keys & (heads | label):
                        labels += 1
                break
    found.add("cell_conflict", find_other_column(sentence, best))
    if found.features["cell_conflict"]:
        found.doubt("subject", best.unit.label)
    nearer = find_nearer_figure(sentence, unit)
    found.add("nearer_figure_share", nearer)
    if nearer == 1:
        found.doubt("subject", sentence.figures[0].text)
    found.add("rival_words", min(rivals, 4))
    found.add("rival_labels", min(labels, 3))
    if labels:
        found.doubt("subject", missing[0].text)
    if best.unit.cells:
        label_words = [word for word in read_words(best.unit.label) if word.keys]
        named = sum(has_word(word, sentence.keys) for word in label_words) / max(len(label_words), 1)
        found.add("label_unsaid", 1 - named if label_words else 0)
    else:
        found.add("label_unsaid", 0)
