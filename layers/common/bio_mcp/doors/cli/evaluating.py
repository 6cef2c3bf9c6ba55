"""`bio-mcp eval`: how good the answers are, and whether they are worse than they were."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.baseline import Baseline, Figure, baselines_in, written
from bio_mcp.evaluating.run import FOLDER
from bio_mcp.progress import Progress
from bio_mcp.tools.evaluate import SETS, eval_run

STATES = {
    "incomplete": "incomplete; run the same command again",
    "running": "another process is evaluating this set; nothing was started",
    "cancelled": "cancelled",
}
NO_BASELINE = "--update-baseline: set BIO_MCP_EVAL_BASELINE to the file that is to hold it."


@click.group("eval")
def eval_command() -> None:
    """Measure how good search and answers are."""


@eval_command.command("run")
@click.option(
    "--set",
    "name",
    metavar="smoke|curated|FILE",
    default="smoke",
    show_default=True,
    help="Questions: to the bundled sample, PubMedQA's, or JSON lines of yours to the corpus.",
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
    given: dict[str, Any] = {"set": name} if name in SETS else {"set": "custom", "params": {"uri": name}}
    body = _evaluate(session, given | ({"metrics": list(metrics)} if metrics else {}))
    if body["state"] != "complete":
        session.code = 1
    elif update_baseline:
        updated = {**(baselines or {}), given["set"]: _baseline_of(body)}
        _write(Path(session.settings.eval_baseline).expanduser(), written(updated).encode())
    elif baselines is not None:
        _compare(session, body, baselines.get(given["set"]), given["set"], whole=not metrics)
    if report and body["report_uri"]:
        _write(report, session.backends.blobs.get(f"{FOLDER}/{body['report_uri'].rpartition('/')[2]}"))
    session.answer(body, render)


def _evaluate(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate a set to its end."""
    with terminal.progress("evaluating") as update:
        return session.ask_to_the_end(eval_run, arguments, lambda: _counted(update))


def _counted(update: Progress) -> Progress:
    def progress(done: int, total: int | None, name: str) -> None:
        update(done, total, f"{done:,}{f'/{total:,}' if total else ''} {name}")

    return progress


def _compare(session: Session, body: dict[str, Any], baseline: Baseline | None, name: str, *, whole: bool) -> None:
    """Add the regressions to the body; any is a failure."""
    if baseline is None:
        body["warnings"].append(f"BIO_MCP_EVAL_BASELINE has no figures of {name}; nothing was compared")
        return
    values = {each["name"]: each["value"] for each in body["metrics"]}
    body["regressions"] = baseline.regressions(body["version"], body["model"], values, whole=whole)
    session.code = 1 if body["regressions"] else session.code


def _baseline_of(body: Mapping[str, Any]) -> Baseline:
    figures = {
        each["name"]: Figure(each["value"], each["low"], each["high"], not each.get("less_is_better"))
        for each in body["metrics"]
    }
    return Baseline(body["version"], body["model"], figures)


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


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"The file cannot be written: {(error.strerror or 'no reason given').lower()}.") from None


def render(body: Mapping[str, Any]) -> None:
    """Print the figures, where the report is, and every warning and regression."""
    rows = [
        (each["name"], f"{each['value']:.3f}", f"{each['low']:.3f} to {each['high']:.3f}", f"{each['questions']:,}")
        for each in body["metrics"]
    ]
    if rows:
        terminal.show(terminal.table(("figure", "value", "95 % interval", "questions"), rows, right=(1, 2, 3)))
    if body["state"] != "complete":
        terminal.say(STATES[body["state"]])
    if body["report_uri"]:
        terminal.say_unwrapped(f"report: {body['report_uri']}")
    for warning in body["warnings"]:
        terminal.warn(warning)
    for sentence in body.get("regressions", ()):
        terminal.fail(f"regression: {sentence}")
