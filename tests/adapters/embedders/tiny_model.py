"""A published model of a few hundred parameters, with a tokenizer of its own."""

import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from tests.adapters.embedders.safetensors_files import write
from tests.adapters.embedders.tiny import HEADS, HIDDEN, INNER, LAYERS, tiny_weights

LIMIT = 12
VOCABULARY = {
    word: place
    for place, word in enumerate(
        "[PAD] [UNK] [CLS] [SEP] heart liver ginger nausea query passage : of the in mice trial cell . , rate".split()
    )
}
CONFIG = {
    "model_type": "bert",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": INNER,
    "max_position_embeddings": LIMIT,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), Whitespace()
    special = [(name, VOCABULARY[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    return made


def published(directory: Path, pooling: str = "cls", prompts: dict[str, str] | None = None, seed: int = 5) -> Path:
    """A directory in sentence-transformers' layout."""
    (directory / "1_Pooling").mkdir(parents=True)
    put(directory / "config.json", CONFIG)
    modules = [{"path": "", "type": "st.Transformer"}, {"path": "1_Pooling", "type": "st.Pooling"}]
    put(directory / "modules.json", modules)
    put(directory / "1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode": pooling})
    put(directory / "sentence_bert_config.json", {"max_seq_length": LIMIT})
    put(directory / "config_sentence_transformers.json", {"prompts": prompts or {}})
    write(directory / "model.safetensors", tiny_weights(seed))
    tokenizer().save(str(directory / "tokenizer.json"))
    return directory


def put(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
