"""The retrievers of the built-in profiles. The first module that knows both FAQs and passages."""

from chat.models import ProfileLeg
from chat.pipeline.retrieval.retrievers.okapi import OkapiRetriever
from faqs.retriever import FAQRetriever
from knowledge.models import Granularity
from knowledge.retrieval.dense import DenseRetriever, HydeRetriever
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.registry import register
from knowledge.retrieval.types import Retriever

Kind = ProfileLeg.Retriever
BUILT_IN: list[tuple[Kind, Retriever]] = [
    (Kind.LEXICAL, LexicalRetriever()),
    (Kind.DENSE, DenseRetriever()),
    (Kind.SENTENCES, DenseRetriever(Granularity.SENTENCE)),
    (Kind.PROPOSITIONS, DenseRetriever(Granularity.PROPOSITION)),
    (Kind.FAQ, FAQRetriever(faqs=3, learned=True)),
    (Kind.NEAREST_FAQ, FAQRetriever(faqs=3)),
    (Kind.HARD_FAQ, FAQRetriever(steering=False)),
    (Kind.HYDE, HydeRetriever()),
    (Kind.OKAPI, OkapiRetriever()),
    (Kind.OKAPI_PAGES, OkapiRetriever(pages=True)),
]
for kind, retriever in BUILT_IN:
    register(kind.value, retriever, label=kind.label)
