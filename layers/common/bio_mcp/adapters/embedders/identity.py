"""The identity of an embedding model: what makes two vectors comparable."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace

PASSAGE_PREFIX, QUESTION_PREFIX = "passage: ", "query: "  # of E5 models
PAIRS = "pairs"  # the pooling of a reranker, which reads two texts together
LATER = {"question_prefix", "projection_sha256", "questions_sha256", "question_tokens"}


@dataclass(frozen=True, slots=True)
class Identity:
    """Every property of a model that changes a vector by more than rounding.

    `precision` is a class, not a file type: fp32 weights run in fp32 by any runtime are "fp32" (they differ by 2e-7 at
    most). Weights rounded further, or activations quantised at run time, are another class.
    """

    model_id: str
    weights_sha256: str
    tokenizer_sha256: str
    dim: int
    max_tokens: int  # special tokens included
    pooling: str = "mean"
    normalised: bool = True
    prefix: str = ""  # before each passage, where a model was trained with a prompt
    precision: str = "fp32"
    question_prefix: str | None = None  # before each question; None: as `before_questions` says
    projection_sha256: str = ""  # of the layers after the pooling
    questions_sha256: str = ""  # weights of the encoder of questions, where it is another one
    question_tokens: int = 0  # its limit; 0: `max_tokens`

    @property
    def before_questions(self) -> str:
        """What stands before a question: `QUESTION_PREFIX` of E5 models, otherwise the same as before a passage."""
        if self.question_prefix is not None:
            return self.question_prefix
        return QUESTION_PREFIX if self.prefix == PASSAGE_PREFIX else self.prefix

    def asked_with(self, prefix: str) -> "Identity":
        """The same, with `prefix` before questions; equal prefixes have equal identities."""
        plain = replace(self, question_prefix=None)
        return plain if plain.before_questions == prefix else replace(self, question_prefix=prefix)

    @property
    def fingerprint(self) -> str:
        """`{model}/{precision}/{16 hex digits}`: the digits start the SHA-256 of the fields as canonical JSON.

        A field of `LATER` counts where it is set, so that indexes of models without it stay valid.
        """
        unset = {each.name for each in fields(self) if each.name in LATER and getattr(self, each.name) == each.default}
        counted = {name: value for name, value in asdict(self).items() if name not in unset}
        canonical = json.dumps(counted, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return f"{self.model_id}/{self.precision}/{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


ALL_MINILM_L6_V2 = Identity(
    model_id="all-MiniLM-L6-v2",
    weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    dim=384,
    max_tokens=256,
)

MULTILINGUAL_E5_SMALL = Identity(
    model_id="multilingual-e5-small",
    weights_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    tokenizer_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",  # in the same file
    dim=384,
    max_tokens=512,
    prefix=PASSAGE_PREFIX,
    precision="int4",
)
