"""Tokens of what an answer depends on besides the corpus; each changes when its input does."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from bio_mcp.ports import Backends
from bio_mcp.replaying.reads import Reads

PACKAGE = Path(__file__).parents[1]
NOT_ASKED = {"doors", "samples"}  # parts of the package that no answer depends on


def inputs_of(backends: Backends, reads: Reads) -> dict[str, str]:
    """Input -> token: code, rules, and of model, language model and graph those that were asked."""
    tau = getattr(backends, "answer_tau", None)
    inputs = {"code": _files(".py"), "rules": sha256(f"{_files('')} {tau}".encode()).hexdigest()[:16]}
    if reads.searches or "collections" in reads.elsewhere:
        inputs["model"] = backends.embeddings.fingerprint
    if reads.searches:
        reranker = getattr(backends, "reranker", None)
        inputs["reranker"] = reranker.fingerprint if reranker else "none"
    if reads.generated is not None:
        model = backends.language_model
        inputs["language_model"] = model.fingerprint if model else "none"
    if reads.graph is not None:
        inputs["graph"] = backends.graph.revision()
    return inputs


@cache
def _files(suffix: str) -> str:
    """A hash of the package's files: its source for ".py", its tables and coefficients for ""."""
    paths = [each for each in sorted(PACKAGE.rglob("*")) if each.is_file() and "__pycache__" not in each.parts]
    found = sha256()
    for each in paths:
        place = each.relative_to(PACKAGE)
        if (each.suffix == ".py") == (suffix == ".py") and place.parts[0] not in NOT_ASKED:
            found.update(f"{place.as_posix()}\0".encode() + sha256(each.read_bytes()).digest())
    return found.hexdigest()[:16]
