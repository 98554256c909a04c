"""Models of sentence-transformers with random weights, small enough to be made in a test; they need torch."""

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def write_xlm_roberta(folder: Path, *, pooling: str) -> None:
    """Write an XLM-RoBERTa of two layers, whose vocabulary is single characters."""
    torch.manual_seed(7)
    pieces = [*SPECIAL, *map(chr, range(33, 383)), "▁"]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], 3, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), SPECIAL, strict=True))
    whole = folder.with_name(f"{folder.name}-transformer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **names).save_pretrained(whole)
    config = XLMRobertaConfig(
        vocab_size=len(pieces), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=130, type_vocab_size=1, initializer_range=0.2,
    )  # fmt: skip
    XLMRobertaModel(config).save_pretrained(whole)
    transformer = Transformer(str(whole))
    SentenceTransformer(modules=[transformer, Pooling(64, pooling_mode=pooling)]).save(str(folder))
