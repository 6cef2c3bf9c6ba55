"""The page: figures with their intervals, how they moved over the runs, and the questions that went wrong."""

from collections.abc import Iterable, Sequence
from html import escape

from bio_mcp.evaluating.cursor import Run
from bio_mcp.evaluating.figures import Metric, Result, confidences
from bio_mcp.evaluating.measures import calibration_bins, risk_coverage
from bio_mcp.evaluating.outcomes import Outcome
from bio_mcp.evaluating.questions import EvaluationSet
from bio_mcp.evaluating.report.plots import calibration, course, ranges, risks
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
    outcomes: Sequence[Outcome],
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
        f"questions.</p>{_figures(metrics, run, earlier)}{_confidence(outcomes)}{_courses([*earlier, run])}"
        f"{_missed(asked, outcomes)}{_answered(asked, outcomes)}"
        "</main></body></html>\n"
    )


def _figures(metrics: Sequence[Metric], run: Run, earlier: Sequence[Run]) -> str:
    meanings = {each.name: each.meaning for each in metrics}
    before = {each.name: each for each in _last(run, earlier)}
    heads = "".join(_head(name) for name in HEADS)
    rows = "".join(_row(each, before.get(each.name), meanings.get(each.name, "")) for each in run.results)
    return (
        f'<h2>Figures</h2><figure>{ranges(run.results, "figures")}</figure><div class="wide"><table>'
        f"<caption>Figures of this run</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _last(run: Run, earlier: Sequence[Run]) -> Sequence[Result]:
    """The figures of the last run of the same questions."""
    same = [each for each in earlier if each.version == run.version]
    return same[-1].results if same else ()


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


def _confidence(outcomes: Iterable[Outcome]) -> str:
    """How far confidence can be relied on; nothing where nothing was answered."""
    answers = [answer for each in outcomes for answer in each.answers]
    if not answers:
        return ""
    given = confidences(answers)
    plots = (
        (risks(risk_coverage(*given), "risks"), "Wrong among the most confident answers, by how many of all these are"),
        (calibration(calibration_bins(*given), "calibration"), "Confidence and the share that cites a right paper"),
    )
    figures = "".join(f"<figure>{plot}<figcaption>{caption}</figcaption></figure>" for plot, caption in plots)
    return (
        f"<h2>Confidence</h2><p>{len(answers):,} answers, withheld or not: each question asked of all the papers, and "
        f'once more without its right papers.</p><div class="plots">{figures}</div>'
    )


def _missed(asked: EvaluationSet, outcomes: Iterable[Outcome]) -> str:
    """The questions without a right paper among the first hits."""
    found = [(each, each.ranking.places) for each in outcomes if each.relevant]
    missed = [(each, places) for each, places in found if min(places, default=FIRST + 1) > FIRST]
    rows = [(each, str(min(places)) if places else "not found") for each, places in missed]
    return _questions(asked, f"Questions without a right paper among the first {FIRST}", "place of the first", rows)


def _answered(asked: EvaluationSet, outcomes: Iterable[Outcome]) -> str:
    """The questions that were answered although nothing in the corpus answers them."""
    last = [(each, each.without if each.relevant else each.answer) for each in outcomes]
    rows = [(each, f"{answer.confidence:.2f}") for each, answer in last if answer and answer.answered]
    return _questions(asked, "Questions answered without a right paper in the corpus", "confidence", rows)


def _questions(asked: EvaluationSet, title: str, what: str, rows: Sequence[tuple[Outcome, str]]) -> str:
    """A table of questions, each with something about it; nothing where there are none."""
    if not rows:
        return ""
    questions = {each.question_id: each for each in asked.questions}
    cells = "".join(
        f'<tr><td>{escape(questions[each.question_id].text)}</td><td class="number">{escape(about)}</td>'
        f"<td>{escape(', '.join(questions[each.question_id].pmids))}</td></tr>"
        for each, about in rows[:MOST_LISTED]
    )
    note = f", {MOST_LISTED} of them" if len(rows) > MOST_LISTED else ""
    return (
        f'<h2>{escape(title)}</h2><div class="wide"><table><caption>{len(rows):,} questions{note}</caption><thead><tr>'
        f'<th scope="col">question</th><th scope="col" class="number">{escape(what)}</th>'
        f'<th scope="col">right papers (PMID)</th></tr></thead><tbody>{cells}</tbody></table></div>'
    )
