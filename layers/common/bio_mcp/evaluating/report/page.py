"""The page: figures with their intervals, how they moved over the runs, and the questions that went wrong."""

from collections.abc import Iterable, Sequence
from html import escape

from bio_mcp.evaluating.cursor import Run
from bio_mcp.evaluating.metrics import Metric, Result
from bio_mcp.evaluating.outcomes import RankingOutcome
from bio_mcp.evaluating.questions import EvaluationSet
from bio_mcp.evaluating.report.plots import course, ranges
from bio_mcp.evaluating.report.style import STYLE

FIRST = 10  # hits among which a right paper should be
MOST_LISTED = 50  # questions that went wrong
HEADS = ("figure", "value", "95 % interval", "questions", "since the last run", "meaning")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(
    asked: EvaluationSet,
    metrics: Sequence[Metric],
    run: Run,
    earlier: Sequence[Run],
    rankings: Sequence[RankingOutcome],
) -> str:
    """The report of a run as HTML. Whatever a question holds is shown as text."""
    title = f"Evaluation: {asked.name}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body><main>'
        f"<h1>{escape(title)}</h1>"
        f'<p class="about">{len(asked.questions):,} questions, version {escape(asked.version)}, ended '
        f"{escape(run.ended)}; model {escape(run.model[:200])}. Intervals are of 95 %, by the bootstrap over "
        f"questions.</p>{_figures(metrics, run, earlier)}{_courses([*earlier, run])}{_missed(asked, rankings)}"
        "</main></body></html>\n"
    )


def _figures(metrics: Sequence[Metric], run: Run, earlier: Sequence[Run]) -> str:
    meanings = {each.name: each.meaning for each in metrics}
    before = {each.name: each for each in (earlier[-1].results if earlier else ())}
    heads = "".join(_head(name) for name in HEADS)
    rows = "".join(_row(each, before.get(each.name), meanings.get(each.name, "")) for each in run.results)
    return (
        f'<h2>Figures</h2><figure>{ranges(run.results, "figures")}</figure><div class="wide"><table>'
        f"<caption>Figures of this run</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _head(name: str) -> str:
    return f'<th scope="col" class="{"text" if name in ("figure", "meaning") else "number"}">{name}</th>'


def _row(result: Result, before: Result | None, meaning: str) -> str:
    direction = "" if result.rising else " (less is better)"
    return (
        f'<tr><th scope="row">{escape(result.name)}</th><td class="number">{result.value:.3f}</td>'
        f'<td class="number">{result.low:.3f} to {result.high:.3f}</td><td class="number">{result.questions:,}</td>'
        f'<td class="number">{_since(result, before)}</td><td>{escape(meaning)}{direction}</td></tr>'
    )


def _since(result: Result, before: Result | None) -> str:
    if before is None:
        return ""
    change = result.value - before.value
    if round(change, 3) == 0:
        return "same"
    kind = "better" if (change > 0) == result.rising else "worse"
    return f'<span class="{kind}">{change:+.3f}, {kind}</span>'


def _courses(runs: Sequence[Run]) -> str:
    """A plot of each figure over the runs that have it."""
    names = [each.name for each in runs[-1].results]
    plots = []
    for number, name in enumerate(names):
        points = [(each, run.ended[:10]) for run in runs for each in run.results if each.name == name]
        plot = course([each for each, _ in points], [day for _, day in points], f"course-{number}")
        plots.append(f"<figure>{plot}<figcaption>{escape(name)}, {len(points)} runs</figcaption></figure>")
    return f'<h2>History</h2><div class="plots">{"".join(plots)}</div>'


def _missed(asked: EvaluationSet, rankings: Iterable[RankingOutcome]) -> str:
    """The questions without a right paper among the first hits."""
    texts = {each.question_id: each for each in asked.questions}
    missed = [each for each in rankings if each.relevant and min(each.places, default=FIRST + 1) > FIRST]
    rows = "".join(
        f'<tr><td>{escape(texts[each.question_id].text)}</td><td class="number">'
        f"{min(each.places) if each.places else 'not found'}</td><td>{escape(', '.join(texts[each.question_id].pmids))}"
        "</td></tr>"
        for each in missed[:MOST_LISTED]
    )
    if not rows:
        return ""
    note = f", {MOST_LISTED} of them" if len(missed) > MOST_LISTED else ""
    return (
        f"<h2>Questions without a right paper among the first {FIRST}</h2><div class='wide'><table>"
        f"<caption>{len(missed):,} questions{note}</caption><thead><tr><th scope='col'>question</th>"
        "<th scope='col' class='number'>place of the first</th><th scope='col'>right papers (PMID)</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
