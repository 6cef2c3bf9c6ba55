"""The checks of `bio-mcp doctor`. Each returns what it found and, if something is wrong, what to do."""

import platform
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial

from bio_mcp import __version__
from bio_mcp.deadline import Deadline
from bio_mcp.health import FAIL, OK, WARN, Finding, examine
from bio_mcp.ports import Backends
from bio_mcp.ports.indexes import Role
from bio_mcp.retrieval.calibration import is_fitted_to
from bio_mcp.settings import Settings
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.syncing.watermarks import future_warning
from bio_mcp.tool import Request, Response, Tool, tool
from bio_mcp.tools.families import BIO_MCP

NCBI_S = 9  # for all tries
FLAGGED_SHOWN = 5  # answers, at most
OTHER_MODEL = (
    "The index decides. Set BIO_MCP_EMBEDDING_MODEL to its model: `bio-mcp reindex` would embed all by the one of the "
    "settings."
)
TWO_INDEXES = "Every paper is written to both, until `bio-mcp reindex remove`; `bio-mcp reindex status` compares them."


class DoctorRequest(Request):
    """`ncbi` asks NCBI, too; `upstreams` asks NCBI and every other service that is configured."""

    ncbi: bool = False
    upstreams: bool = False


class CheckResult(Response):
    """The result of one check: ok, warn or fail, what was found, and what to do."""

    check: str
    state: str
    found: str
    remedy: str


class Diagnosis(Response):
    """All results; `ok` if no check failed."""

    ok: bool
    checks: list[CheckResult]


Check = Callable[[Settings, Backends], Finding]


def diagnosis(settings: Settings) -> Tool:
    """The tool that checks the installation configured by `settings`."""

    @tool("corpus.doctor", family=BIO_MCP, scope="admin", timeout=600)
    def doctor(request: DoctorRequest, backends: Backends) -> Diagnosis:
        """Check the installation and its corpus."""
        corpus = {**CORPUS, "ncbi": ncbi if request.ncbi or request.upstreams else ncbi_skipped}
        outside = backends.upstreams() if request.upstreams else ()
        here = [*_examined(HERE, settings, backends), *backends.checks()]
        found = [*here, *_examined(corpus, settings, backends), *outside]
        return Diagnosis(
            ok=all(each.state != FAIL for each in found), checks=[CheckResult(**asdict(each)) for each in found]
        )

    return doctor


def versions(_settings: Settings, _backends: Backends) -> Finding:
    """The versions of bio-mcp, Python and SQLite."""
    return Finding(OK, f"bio-mcp {__version__} on Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")


def configuration(settings: Settings, _backends: Backends) -> Finding:
    """The settings can be read, and name a contact address for NCBI."""
    if not settings.ncbi_admin_email:
        return Finding(
            WARN, "readable; no NCBI_ADMIN_EMAIL", "Set it to your address: NCBI writes there before it blocks anyone."
        )
    return Finding(OK, "readable")


def model(_settings: Settings, backends: Backends) -> Finding:
    """The embedding model gives vectors of its dimension; says whether the probabilities were fitted to it."""
    vectors = backends.embeddings.embed(["Is the embedding model at work?"])
    if vectors.shape != (1, backends.embeddings.dim):
        found = f"gives vectors of {vectors.shape[1]} dimensions"
        return Finding(FAIL, found, "Delete the model and run `bio-mcp setup`.")
    fingerprint, configured = backends.embeddings.fingerprint, backends.models.named("").fingerprint
    fitted = is_fitted_to(fingerprint)
    found = fingerprint if fitted else f"{fingerprint}; probabilities of relevance, fitted to another, are rough"
    if fingerprint == configured:
        return Finding(OK, found)
    return Finding(WARN, f"{found}; the settings name {configured}", OTHER_MODEL)


def index(_settings: Settings, backends: Backends) -> Finding:
    """Every paper is indexed, by the configured model."""
    size = corpus_size(backends)
    if not size.documents:
        return Finding(WARN, "the corpus is empty", "Run `bio-mcp import --sample` or `bio-mcp sync`.")
    backends.passages.check_model(backends.embeddings.fingerprint, backends.embeddings.dim)
    found = f"{size.documents:,} papers, {size.indexed:,} of them indexed as {size.chunks:,} passages"
    if size.documents != size.indexed:
        return Finding(WARN, found, "Run the interrupted import or sync again, or `bio-mcp reindex`.")
    if others := [each.role for each in backends.indexes.all() if each.role is not Role.SEARCHED]:
        return Finding(WARN, f"{found}; a {others[0]} index beside it", TWO_INDEXES)
    return Finding(OK, found)


def queries(_settings: Settings, backends: Backends) -> Finding:
    """No watermark is in the future."""
    checkpoints, today = backends.checkpoints.all(), backends.today()
    problems = {f"{each.query_key}: {reason}": None for each in checkpoints if (reason := future_warning(each, today))}
    if problems:
        return Finding(WARN, "; ".join(problems), "Correct the clock and run the sync again.")
    return Finding(OK, f"{len({each.query_key for each in checkpoints})} followed")


def answers(_settings: Settings, backends: Backends) -> Finding:
    """No paper that an answer cites was retracted since."""
    flagged = backends.answers.flagged(FLAGGED_SHOWN)
    if not flagged:
        return Finding(OK, "none cites a paper that was retracted since")
    of_each = (f"{each.answer_id} (PMID {', '.join(each.flagged)})" for each in flagged)
    found = f"cite papers that were retracted since: {', '.join(of_each)}"
    return Finding(WARN, found, "Read them with `bio-mcp answer --show ID`, and ask again.")


def ncbi(_settings: Settings, backends: Backends) -> Finding:
    """NCBI answers a search."""
    page = backends.entrez.esearch("all[sb]", retmax=1, deadline=Deadline(NCBI_S))
    return Finding(OK, f"answers; PubMed holds {page.count:,} records")


def ncbi_skipped(_settings: Settings, _backends: Backends) -> Finding:
    """NCBI is only asked with --ncbi."""
    return Finding(OK, "not asked; `bio-mcp doctor --ncbi` asks it")


HERE: dict[str, Check] = {"versions": versions, "settings": configuration}
CORPUS: dict[str, Check] = {"embedding model": model, "corpus": index, "queries": queries, "answers": answers}


def _examined(checks: Mapping[str, Check], settings: Settings, backends: Backends) -> list[Finding]:
    return [examine(name, partial(check, settings, backends)) for name, check in checks.items()]
