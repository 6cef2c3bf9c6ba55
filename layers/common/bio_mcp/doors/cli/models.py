"""`bio-mcp models`: lists the embedding models of this machine, adds one, and measures how good they are."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput
from bio_mcp.progress import Progress
from bio_mcp.tools.evaluate import eval_run

FIGURES = ("nDCG@10", "R@10", "MRR")
SETS = ("smoke", "curated")
ADDED = "{name} is installed: {dim} dimensions, {max_tokens} tokens, {pooling} pooling, licence {licence}."
CHECKED = (
    "Its vectors differ by {difference:.0e} from plain numpy. One thread embeds {passages_per_s:,} short passages a "
    "second, and a question in {question_ms} ms."
)
RERANKER = (
    "{name} is installed, a reranker of {max_tokens} tokens. To use it: set BIO_MCP_RERANKER=onnx and "
    "BIO_MCP_RERANKER_MODEL={name}."
)
IN_8_BITS = (
    "Its vectors have a cosine of at least {cosine} to those in fp32, on sixteen texts, of which it embeds {faster} "
    "times as many in the same time on this machine."
)
USE = "To use {name}: set BIO_MCP_EMBEDDING_MODEL={name}, then run bio-mcp reindex, which embeds the corpus anew."
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("models")
def models_command() -> None:
    """List, add and measure embedding models."""


@models_command.command("list")
@answering
def list_command(session: Session) -> None:
    """List the models that are installed, and others that are known, with where each is published."""
    from bio_mcp.wiring import models

    here = models.installed(session.settings)
    session.answer({"installed": here, "known": models.presets([each["name"] for each in here])}, render_list)


@models_command.command("add")
@click.argument("folder", type=FOLDER)
@click.option("--name", help="Name to install it under.  [default: the folder's]")
@click.option("--sha256", help="SHA-256 that its model.safetensors must have.")
@click.option("--licence", help="Its licence, to be shown with it.")
@click.option("--pooling", type=click.Choice(["mean", "cls"]), help="Where its files do not say.")
@click.option("--passage-prefix", help="What it wants before each passage, where its files do not say.")
@click.option("--question-prefix", help="What it wants before each question, where its files do not say.")
@click.option("--max-tokens", type=click.IntRange(16, 8192), help="Tokens of a text that it reads.  [at most 512]")
@click.option("--questions", type=FOLDER, help="Folder of its encoder of questions, if that is another one.")
@click.option("--reranker", is_flag=True, help="It is a cross-encoder, for BIO_MCP_RERANKER=onnx.")
@click.option("--score/--no-score", default=True, help="Measure it beside the model in use, some minutes.")
@answering
def add_command(session: Session, folder: Path, score: bool, reranker: bool, **wanted: Any) -> None:
    """Install the model in FOLDER, which has its published files: model.safetensors, config.json, tokenizer.json.

    Nothing in the folder is run. Its weights are compared with the known hash, its vectors with the same weights in
    plain numpy, alone and in batches.
    """
    from bio_mcp.wiring import models

    if session.settings.mode != "embedded":
        raise InvalidInput("Models are added on the machine that uses them; BIO_MCP_MODE is aws.")
    given = {name: value for name, value in wanted.items() if value is not None}
    with terminal.progress("adding") as update:
        add = models.add_reranker if reranker else models.add
        body = add(session.settings, folder, given, lambda line: update(0, None, line))
    if reranker:
        session.answer(body, lambda _: terminal.say(RERANKER.format(**body)))
    else:
        body["scores"] = _scores(session, _beside(session, body["name"]), "smoke") if score else []
        session.answer(body, render_added)


@models_command.command("quantise")
@click.argument("name", required=False)
@click.option("--score/--no-score", default=True, help="Measure it beside the model in use, some minutes.")
@answering
def quantise_command(session: Session, name: str | None, score: bool) -> None:
    """Install the model NAME, or that in use, once more with its matrices in 8 bits: faster, and with other vectors."""
    from bio_mcp.wiring import models

    there = _usable(models.installed(session.settings))
    chosen = name or session.settings.embedding_model
    _check_installed([chosen], there)
    with terminal.progress("quantising") as update:
        body = models.quantise(session.settings, chosen, lambda line: update(0, None, line))
    body["scores"] = _scores(session, [chosen, body["name"]], "smoke") if score else []
    session.answer(body, render_quantised)


@models_command.command("score")
@click.argument("names", nargs=-1)
@click.option("--set", "name", type=click.Choice(SETS), default="smoke", show_default=True, help="Questions to ask.")
@answering
def score_command(session: Session, names: tuple[str, ...], name: str) -> None:
    """Measure how well installed models find papers: those named, or all.

    The questions are asked to the papers that come with them, in a corpus apart, which is embedded by each model.
    """
    from bio_mcp.wiring import models

    there = _usable(models.installed(session.settings))
    _check_installed(names, there)
    session.answer({"set": name, "scores": _scores(session, names or there, name)}, render_scores)


def _usable(here: Sequence[Mapping[str, Any]]) -> list[str]:
    """The embedding models among those that are installed."""
    return [each["name"] for each in here if each["whole"] and each["pooling"] != "pairs"]


def _check_installed(names: Sequence[str], there: Sequence[str]) -> None:
    if unknown := sorted(set(names) - set(there)):
        raise InvalidInput(f"No model {', '.join(unknown)} is installed; there are {', '.join(there) or 'none'}.")


def _beside(session: Session, name: str) -> Sequence[str]:
    """The model in use, if it is one of this machine, and the other."""
    from bio_mcp.wiring import models

    used = [each["name"] for each in models.installed(session.settings) if each["in_use"] and each["whole"]]
    return list(dict.fromkeys([*used, name]))


def _scores(session: Session, names: Sequence[str], questions: str) -> list[dict[str, Any]]:
    """The figures of each model, over a corpus that is apart from the user's own."""
    scores = []
    apart = session.settings.home.expanduser() / "scratch" / "models"
    for name in names:
        settings = replace(session.settings, home=apart, embeddings="onnx", embedding_model=name)
        settings = replace(settings, llm="none", reranker="none")
        with closing(Session(settings, session.wire)) as other, terminal.progress(f"measuring {name}") as update:
            arguments = {"set": questions, "metrics": list(FIGURES)}
            body = other.ask_to_the_end(eval_run, arguments, partial(_counted, update))
        figures = {each["name"]: each for each in body["metrics"]}
        scores.append({"name": name, "model": body["model"], "state": body["state"], "figures": figures})
    return scores


def _counted(update: Progress) -> Progress:
    return lambda done, total, name: update(done, total, f"{done:,}{f'/{total:,}' if total else ''} {name}")


def render_list(body: Mapping[str, Any]) -> None:
    """Print both lists."""
    rows = [(each["name"], *_facts(each)) for each in body["installed"]]
    if rows:
        terminal.show(
            terminal.table(("installed", "", "licence", "dimensions", "tokens", "pooling"), rows, right=(3, 4))
        )
    known = [
        (
            each["name"],
            each["source"],
            each["licence"],
            str(each["dim"]),
            _figure(each["scifact"]),
            _figure(each["nfcorpus"]),
        )
        for each in body["known"]
    ]
    if known:
        columns = ("known", "published as", "licence", "dimensions", "SciFact", "NFCorpus")
        terminal.show(terminal.table(columns, known, right=(3, 4, 5)))
        terminal.say("SciFact and NFCorpus: nDCG@10 as published. Download one, then run bio-mcp models add FOLDER.")


def _facts(each: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    if "dim" not in each:
        return "damaged", "", "", "", ""
    state = "damaged" if not each["whole"] else "configured" if each["in_use"] else ""
    return state, each["licence"], str(each["dim"]), str(each["max_tokens"]), each["pooling"]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def render_added(body: Mapping[str, Any]) -> None:
    """Print what was added and checked, its scores, and what to do next."""
    terminal.say(ADDED.format(**body), CHECKED.format(**body))
    terminal.say_unwrapped(f"SHA-256 of its weights: {body['weights_sha256']}")
    render_scores(body)
    terminal.say(USE.format(name=body["name"]))


def render_quantised(body: Mapping[str, Any]) -> None:
    """Print what was installed, how near and how fast it is, its scores, and what to do next."""
    terminal.say(ADDED.format(**body), IN_8_BITS.format(**body))
    render_scores(body)
    terminal.say(USE.format(name=body["name"]))


def render_scores(body: Mapping[str, Any]) -> None:
    """Print a row of figures for each model."""
    rows = [(each["name"], *(_interval(each["figures"].get(name)) for name in FIGURES)) for each in body["scores"]]
    if rows:
        terminal.show(terminal.table(("model", *FIGURES), rows, right=(1, 2, 3)))


def _interval(figure: Mapping[str, Any] | None) -> str:
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})" if figure else ""
