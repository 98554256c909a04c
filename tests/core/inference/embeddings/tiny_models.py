"""Models of sentence-transformers with random weights, small enough to be made in a test; they need torch."""

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    DistilBertConfig,
    DistilBertModel,
    MPNetConfig,
    MPNetModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaModel,
)

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
#: The vocabulary is single characters.
PIECES = [*SPECIAL, *map(chr, range(33, 383)), "▁"]


def write_xlm_roberta(folder: Path, *, pooling: str) -> None:
    """Write an XLM-RoBERTa of two layers."""
    torch.manual_seed(7)
    config = XLMRobertaConfig(
        vocab_size=len(PIECES), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=130, type_vocab_size=1, initializer_range=0.2,
    )  # fmt: skip
    _write(folder, XLMRobertaModel(config), Pooling(64, pooling_mode=pooling))


def write_mpnet(folder: Path) -> None:
    """Write an MPNet of two layers, whose attention knows how far two words are apart."""
    torch.manual_seed(7)
    config = MPNetConfig(
        vocab_size=len(PIECES), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=130, initializer_range=0.2,
    )  # fmt: skip
    _write(folder, MPNetModel(config), Pooling(64))


def write_distilbert(folder: Path) -> None:
    """Write a DistilBERT of two layers, whose vectors a further layer makes shorter."""
    torch.manual_seed(7)
    config = DistilBertConfig(
        vocab_size=len(PIECES), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=128,
        initializer_range=0.2,
    )  # fmt: skip
    _write(folder, DistilBertModel(config), Pooling(64), Dense(64, 32))


def _write(folder: Path, network: PreTrainedModel, *parts: torch.nn.Module) -> None:
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in PIECES], 3, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), SPECIAL, strict=True))
    whole = folder.with_name(f"{folder.name}-transformer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **names).save_pretrained(whole)
    network.save_pretrained(whole)
    SentenceTransformer(modules=[Transformer(str(whole)), *parts], device="cpu").save(str(folder))
