"""How good search is, and by which model: `eval`, and under `admin` models and changes of the index."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import Decorator, answering
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session, Work, counted, refused
from bio_mcp.errors import Conflict, InvalidInput
from bio_mcp.evaluating.comparing import Baseline, Comparison, Figure, baselines_in, compare, written
from bio_mcp.evaluating.run import FOLDER
from bio_mcp.ports import Backends
from bio_mcp.ports.models import Role
from bio_mcp.syncing import reindexing
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.tool import Context
from bio_mcp.tools.evaluate import FURTHER_SETS, SETS, eval_run, questions_of

Change = Callable[..., object]
"""Makes a change, given the backends, the context and the command's options."""

NO_BASELINE = "--update-baseline: set BIO_MCP_EVAL_BASELINE to the file that is to hold it."
FIGURES = ("nDCG@10", "R@10", "MRR")
MODEL_SETS = ("smoke", "curated")
EVALUATED = View(
    hidden=frozenset({"job_id", "model", "regressions"}),
    tables={"metrics": ("name", "value", "low", "high", "questions")},
    labels={"name": "figure", "low": "from", "high": "to, 95 %"},
)
MODELS = View(
    tables={"installed": ("name", "licence", "dim", "max_tokens", "pooling", "in_use", "whole")},
    labels={"dim": "dimensions", "max_tokens": "tokens"},
)
ADDED = (
    "{name} is installed: {dim} dimensions, {max_tokens} tokens, {pooling} pooling, licence {licence}. Its vectors do "
    "not depend on the texts beside them. One thread embeds {passages_per_s:,} short passages a second, a question in "
    "{question_ms} ms. SHA-256 of its graph: {weights_sha256}\n"
    "To use {name}: set BIO_MCP_EMBEDDING_MODEL={name}, then run bio-mcp admin reindex, which embeds the corpus anew."
)
RERANKER = (
    "{name} is installed, a reranker of {max_tokens} tokens. To use it: set BIO_MCP_RERANKER=onnx and "
    "BIO_MCP_RERANKER_MODEL={name}."
)
COMPARED = View(
    hidden=frozenset({"overlap", "overlap_low", "overlap_high", "worse"}),
    tables={"figures": ("name", "searched", "next", "low", "high")},
    labels={"name": "figure", "low": "difference from", "high": "to, 95 %"},
    foot="Of the first ten papers {overlap:.0%} are the same in both ({overlap_low:.0%} to {overlap_high:.0%}).",
)
INDEXES = View(
    tables={"indexes": ("role", "model", "settings", "papers", "chunks", "behind")}, labels={"role": "index"}
)


eval_command = click.Group("eval", help="Measure how good search and answers are.")


def questions(default: str, text: str) -> Decorator:
    return click.option(
        "--set",
        "name",
        metavar="smoke|answers|curated|FILE",
        default=default,
        show_default=True,
        help=f"Questions: {text}.",
    )


@eval_command.command("run")
@questions(
    "smoke",
    "to the bundled sample, 220 with what answers them, PubMedQA's, or JSON lines of yours to the corpus",
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this figure, such as R@10; repeatable.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Write the report, HTML, to FILE too.")
@click.option("--update-baseline", is_flag=True, help="Make these the figures that later runs are compared with.")
@answering
def run_command(
    session: Session, name: str, metrics: tuple[str, ...], report: Path | None, update_baseline: bool
) -> None:
    """Ask a set of judged questions and show the figures, each with its 95 % interval.

    Where BIO_MCP_EVAL_BASELINE names a file, a figure that is outside the interval it has there is a failure. A line of
    FILE is {"id": "1", "question": "...", "pmids": ["34093513"]}.
    """
    if update_baseline and not session.settings.eval_baseline:
        raise click.UsageError(NO_BASELINE)
    baselines = _baselines(session.settings.eval_baseline, missing_is_empty=update_baseline)
    known = name if name in (*SETS, *FURTHER_SETS) else "custom"
    given: dict[str, Any] = {"set": name} if name in SETS else {"set": "custom", "params": {"uri": name}}
    asked = given | ({"metrics": list(metrics)} if metrics else {})
    body = session.ask_to_the_end(eval_run, asked, "evaluating")
    with refused("The file cannot be written"):
        if body["state"] != "complete":
            session.code = 1
        elif update_baseline:
            figures = {
                each["name"]: Figure(each["value"], each["low"], each["high"], not each.get("less_is_better"))
                for each in body["metrics"]
            }
            updated = {**(baselines or {}), known: Baseline(body["version"], body["model"], figures)}
            Path(session.settings.eval_baseline).expanduser().write_text(written(updated), "utf-8")
        elif baseline := (baselines or {}).get(known):
            values = {each["name"]: each["value"] for each in body["metrics"]}
            body["regressions"] = baseline.regressions(body["version"], body["model"], values, whole=not metrics)
            session.code = 1 if body["regressions"] else session.code
        elif baselines is not None:
            body["warnings"].append(f"BIO_MCP_EVAL_BASELINE has no figures of {known}; nothing was compared")
        if report and body["report_uri"]:
            report.write_bytes(session.backends.blobs.get(f"{FOLDER}/{body['report_uri'].rpartition('/')[2]}"))
    session.answer(body, EVALUATED)
    _fail(session, [f"regression: {each}" for each in body.get("regressions", ())])


def _fail(session: Session, sentences: Sequence[str]) -> None:
    for each in () if session.as_json else sentences:
        terminal.fail(each)


def _baselines(path: str, *, missing_is_empty: bool) -> dict[str, Baseline] | None:
    """The baselines of the file, read before anything is asked; None where no file is named."""
    if not path:
        return None
    try:
        return baselines_in(Path(path).expanduser().read_text("utf-8"))
    except FileNotFoundError:
        if missing_is_empty:
            return {}
        raise InvalidInput("BIO_MCP_EVAL_BASELINE names no file; --update-baseline makes one") from None
    except (OSError, UnicodeDecodeError):
        raise InvalidInput("BIO_MCP_EVAL_BASELINE: the file cannot be read") from None


models_command = click.Group("models", help="List, add and measure embedding models.")


@models_command.command("list")
@answering
def list_command(session: Session) -> None:
    """List the models that are on this machine."""
    from bio_mcp.wiring import models

    session.answer({"installed": models.installed(session.settings)}, MODELS)


@models_command.command("add")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", help="Name to install it under.  [default: the folder's]")
@click.option("--sha256", help="SHA-256 that its model.onnx must have.")
@click.option("--licence", help="Its licence, to be shown with it.")
@click.option("--pooling", type=click.Choice(["mean", "cls"]), help="Where its files do not say.")
@click.option("--passage-prefix", help="What it wants before each passage, where its files do not say.")
@click.option("--question-prefix", help="What it wants before each question, where its files do not say.")
@click.option("--max-tokens", type=click.IntRange(16, 8192), help="Tokens of a text that it reads.  [at most 512]")
@click.option("--reranker", is_flag=True, help="It is a cross-encoder, for BIO_MCP_RERANKER=onnx.")
@answering
def add_command(session: Session, folder: Path, reranker: bool, **wanted: Any) -> None:
    """Install the model in FOLDER, which has its published files: onnx/model.onnx or model.onnx, and tokenizer.json.

    Pooling and prompts are read from its own files. Nothing in the folder is run but the graph, by ONNX Runtime. A
    model whose vectors depend on the texts beside them, as many of 8 bits do, is refused.
    """
    from bio_mcp.wiring import models

    if session.settings.mode != "embedded":
        raise InvalidInput("Models are added on the machine that uses them; BIO_MCP_MODE is aws.")
    given = {name: value for name, value in wanted.items() if value is not None}
    body = (models.add_reranker if reranker else models.add)(session.settings, folder, given)
    session.answer(body, (RERANKER if reranker else ADDED).format(**body))


@models_command.command("score")
@click.argument("names", nargs=-1)
@click.option(
    "--set", "name", type=click.Choice(MODEL_SETS), default="smoke", show_default=True, help="Questions to ask."
)
@answering
def score_command(session: Session, names: tuple[str, ...], name: str) -> None:
    """Measure how well installed models find papers: those named, or all.

    The questions are asked to the papers that come with them, in a corpus apart, which is embedded by each model.
    """
    from bio_mcp.wiring import models

    there = [
        each["name"] for each in models.installed(session.settings) if each["whole"] and each["pooling"] != "pairs"
    ]
    if unknown := sorted(set(names) - set(there)):
        raise InvalidInput(f"No model {', '.join(unknown)} is installed; there are {', '.join(there) or 'none'}.")
    body = {"set": name, "scores": [_score(session, each, name) for each in names or there]}
    session.answer(body, _show_scores)


def _score(session: Session, model: str, questions: str) -> dict[str, Any]:
    """The figures of a model, over a corpus that is apart from the user's own."""
    apart = session.settings.home.expanduser() / "scratch" / "models"
    settings = replace(session.settings, home=apart, embeddings="onnx", embedding_model=model)
    settings = replace(settings, llm="none", reranker="none")
    with closing(Session(settings, session.wire)) as other:
        asked = {"set": questions, "metrics": list(FIGURES)}
        body = other.ask_to_the_end(eval_run, asked, f"measuring {model}")
    figures = {each["name"]: each for each in body["metrics"]}
    return {"name": model, "model": body["model"], "state": body["state"], "figures": figures}


def _show_scores(body: Mapping[str, Any]) -> None:
    form = "{value:.3f} ({low:.3f} to {high:.3f})"
    rows = [
        (each["name"], *(form.format(**each["figures"][name]) if name in each["figures"] else "" for name in FIGURES))
        for each in body["scores"]
    ]
    if rows:
        terminal.show(terminal.table(("model", *FIGURES), rows, right=(1, 2, 3)))


of_both = questions(
    "curated", "to the bundled sample, PubMedQA's, each by both models, or JSON lines of yours to the papers"
)


@click.group("reindex", invoke_without_command=True)
@answering
def reindex_command(session: Session) -> None:
    """Rebuild the search index from the stored papers: after a restore, or for the configured embedding model.

    It may be stopped at any time: run it again, and no text is embedded twice. Searches go on meanwhile. The commands
    below change the model in steps of their own, with a way back.
    """

    def reindexed(backends: Backends, context: Context) -> dict[str, Any]:
        another = reindexing.reindex(backends, context.progress)
        size = corpus_size(backends)
        return {"another_model": another, "documents": size.documents, "indexed": size.indexed, "chunks": size.chunks}

    if click.get_current_context().invoked_subcommand is None:
        body = _step(session, "", reindexed, "indexing", "papers")
        made = "The index is now of the configured model" if body["another_model"] else "The index is complete"
        papers, passages = terminal.counted(body["indexed"], "paper"), terminal.counted(body["chunks"], "passage")
        session.answer(body, f"{made}: {papers}, {passages}.")


def _step(session: Session, name: str, work: Work, doing: str, unit: str) -> dict[str, Any]:
    """Take a step of a change of the index, under a progress bar."""
    with terminal.progress(doing) as update:
        return session.do(f"corpus.reindex{name}", work, counted(update, unit))


def _changes(
    name: str, text: str, change: Change, doing: str, unit: str = "", options: Sequence[Decorator] = ()
) -> None:
    """Add the command NAME, which makes a change and then shows the indexes; `behind` counts the papers that the
    searched one has and another lacks, or has older."""

    def run(session: Session, /, **given: Any) -> None:
        def work(backends: Backends, context: Context) -> dict[str, Any]:
            change(backends, context, **given)
            indexes = []
            for each in backends.indexes.all():
                papers, chunks = each.passages.count()
                lacks = () if each.role is Role.SEARCHED else reindexing.behind(each, backends)
                state = {"role": each.role, "model": each.fingerprint, "settings": each.settings}
                indexes.append({**state, "papers": papers, "chunks": chunks, "behind": sum(1 for _ in lacks)})
            return {"indexes": indexes}

        session.answer(_step(session, f".{name}", work, doing, unit), INDEXES)

    command = answering(run)
    for each in reversed(options):
        command = each(command)
    reindex_command.command(name, help=text)(command)


def _start(backends: Backends, context: Context, model: str, force: bool) -> None:
    index = reindexing.begin(backends.models.named(model), backends, force=force)
    reindexing.fill(index, backends, context.progress)


_changes(
    "start",
    """Fill an index of another model beside the one that is searched, or of the same with the settings of now.

    Stopped, it is run again. Vectors of the same model are copied. From its beginning on syncs and imports write to
    both indexes.
    """,
    _start,
    "indexing",
    "papers",
    (
        click.option("--model", default="", help="An installed model, or openai:NAME.  [default: the configured one]"),
        click.option("--force", is_flag=True, help="Also where neither model nor settings are others."),
    ),
)
_changes("status", "Show the indexes of the papers, their models, and what each lacks.", lambda *_: None, "counting")


@reindex_command.command("compare")
@of_both
@answering
def compare_command(session: Session, name: str) -> None:
    """Ask judged questions of both indexes, and show what each finds; exits 1 if the next one finds less."""

    def compared(backends: Backends, context: Context) -> dict[str, Any]:
        found = _comparison(name, backends, context)
        shares = {each: getattr(found, each) for each in ("overlap", "overlap_low", "overlap_high")}
        figures = [asdict(each) for each in found.differences]
        return {"figures": figures, **shares, "worse": [each.name for each in found.worse]}

    body = _step(session, ".compare", compared, "comparing", "")
    session.code = 1 if body["worse"] else session.code
    session.answer(body, COMPARED)
    _fail(session, [f"{each} is worse by more than chance" for each in body["worse"]])


def _comparison(name: str, backends: Backends, context: Context) -> Comparison:
    """What both indexes find, once the next one has every paper."""
    searched, other = (reindexing.of_role(each, backends) for each in (Role.SEARCHED, Role.NEXT))
    reindexing.fill(other, backends, context.progress)
    kind, uri = (name, None) if name in SETS else ("custom", name)
    asked, _ = questions_of(kind, uri, backends, context.local)
    return compare(asked, searched, other, backends, context.deadline, context.progress)


def _switch(backends: Backends, context: Context, name: str, unchecked: bool) -> None:
    if not unchecked and (worse := _comparison(name, backends, context).worse):
        figures = ", ".join(f"{each.name} {each.next:.3f} against {each.searched:.3f}" for each in worse)
        refused = f"The next index finds less: {figures}. Switch all the same with --unchecked."
        raise Conflict(refused, retryable=False)
    reindexing.switch(Role.NEXT, backends, context.progress)


_changes(
    "switch",
    """Search the next index from now on, in every process, unless it finds less by more than chance.

    The old one goes on being written to, for a way back.
    """,
    _switch,
    "switching",
    options=(of_both, click.option("--unchecked", is_flag=True, help="Compare nothing, and switch.")),
)
_changes(
    "rollback",
    "Search the previous index again.",
    lambda backends, context: reindexing.switch(Role.PREVIOUS, backends, context.progress),
    "completing",
    "papers",
)
_changes(
    "remove",
    "Delete the index that is not searched, with its vectors.",
    lambda backends, _: backends.indexes.remove(),
    "removing",
)
