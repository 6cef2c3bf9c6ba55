"""The report of an evaluation: one page of HTML without anything from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape

from bio_mcp.evaluating.figures import Metric, Outcome, Result, Run, calibration_bins
from bio_mcp.evaluating.questions import EvaluationSet

STYLE = """
:root { color-scheme: light dark; --text: #1a1f24; --muted: #57606a; --line: #d0d7de; --back: #ffffff;
  --mark: #0b62b0; --band: #b6d4f0; --worse: #a40e26; --better: #116329; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --muted: #9aa5b1; --line: #3d444d; --back: #0d1117;
  --mark: #6cb6ff; --band: #1f4b77; --worse: #ff8f8a; --better: #6fdd8b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--back); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p.about, caption, figcaption, .muted { color: var(--muted); } caption { text-align: left; padding-bottom: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .75rem .3rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.better { color: var(--better); } .worse { color: var(--worse); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
figure { margin: 0; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; } svg .muted { fill: var(--muted); }
svg .axis { stroke: var(--line); fill: none; } svg .line { stroke: var(--mark); fill: none; stroke-width: 2; }
svg .band { fill: var(--band); } svg .dot { fill: var(--mark); }
@media print { body { max-width: none; } }
"""

WIDTH, HEIGHT = 320, 200
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 10, 34


def course(values: Sequence[Result], days: Sequence[str], name: str) -> str:
    """One figure over the runs, the oldest at the left, in the band of its interval."""
    steps = max(1, len(values) - 1)
    x = [LEFT + number / steps * (WIDTH - LEFT - RIGHT) for number in range(len(values))]
    highs, lows, line = (
        [f"{at:.1f},{_up(getattr(each, bound)):.1f}" for at, each in zip(x, values, strict=True)]
        for bound in ("high", "low", "value")
    )
    parts = [
        *_axes(f"{days[0]}", f"{days[-1]}" if len(days) > 1 else ""),
        f'<polygon class="band" points="{" ".join([*highs, *reversed(lows)])}"/>',
        f'<polyline class="line" points="{" ".join(line)}"/>',
        *('<circle class="dot" cx="{}" cy="{}" r="3"/>'.format(*point.split(",")) for point in line),
    ]
    described = "; ".join(f"{day}: {each.value:.3f}" for day, each in zip(days, values, strict=True))
    return svg(name, f"{values[0].name} over the runs", described, parts)


def svg(name: str, title: str, description: str, parts: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> str:
    """The plot that `parts` draw; `name` is unique on its page."""
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _axes(left_label: str, right_label: str) -> list[str]:
    """A square from 0 to 1, with the labels of its ends."""
    low, high, start, end = _up(0), _up(1), LEFT, WIDTH - RIGHT
    ticks = [
        f'<line class="axis" x1="{start}" y1="{_up(tick):.1f}" x2="{end}" y2="{_up(tick):.1f}"/>'
        f'<text class="muted" text-anchor="end" x="{start - 6}" y="{_up(tick) + 4:.1f}">{tick:g}</text>'
        for tick in (0, 0.5, 1)
    ]
    return [
        f'<path class="axis" d="M{start} {high}V{low}H{end}"/>',
        *ticks,
        f'<text class="muted" x="{start}" y="{HEIGHT - 10}">{escape(left_label)}</text>',
        f'<text class="muted" text-anchor="end" x="{end}" y="{HEIGHT - 10}">{escape(right_label)}</text>',
    ]


def _up(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


FIRST = 10  # hits among which a right paper should be
MOST_LISTED = 50  # questions that went wrong
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
HEADS = ("figure", "value", "95 % interval", "questions", "since the last run", "meaning")
TEXTS = {"figure", "meaning", "question", "right papers (PMID)"}  # columns that are no numbers


def page(
    asked: EvaluationSet, metrics: Sequence[Metric], run: Run, earlier: Sequence[Run], outcomes: Sequence[Outcome]
) -> str:
    """The report of a run as HTML. Whatever a question holds is shown as text."""
    title = escape(f"Evaluation: {asked.name}")
    about = (
        f"{len(asked.questions):,} questions, version {asked.version}, ended {run.ended}; model {run.model[:200]}. "
        "Intervals are of 95 %, by the bootstrap over questions."
    )
    parts = [
        _figures(metrics, run, earlier),
        _confidence(outcomes),
        _courses([*earlier, run]),
        *_mistakes(asked, outcomes),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body><main>'
        f'<h1>{title}</h1><p class="about">{escape(about)}</p>{"".join(parts)}</main></body></html>\n'
    )


def _table(title: str, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A titled table of texts, the better and the worse in colour; nothing where there are no rows."""
    if not rows:
        return ""
    classes = ["text" if each in TEXTS else "number" for each in heads]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name)}</th>' for kind, name in zip(classes, heads, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, classes, row))}</tr>" for row in rows)
    return (
        f'<h2>{escape(title)}</h2><div class="wide"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(kind: str, text: str) -> str:
    change = next((f" {each}" for each in ("better", "worse") if kind == "number" and text.endswith(each)), "")
    return f'<td class="{kind}{change}">{escape(text)}</td>'


def _figures(metrics: Sequence[Metric], run: Run, earlier: Sequence[Run]) -> str:
    meanings = {each.name: each.meaning for each in metrics}
    same = [each.results for each in earlier if each.version == run.version]  # the same questions
    before = {each.name: each for each in (same[-1] if same else ())}
    rows = []
    for each in run.results:
        meaning = meanings.get(each.name, "") + ("" if each.rising else " (less is better)")
        interval = f"{each.low:.3f} to {each.high:.3f}"
        since = _since(each, before[each.name]) if each.name in before else ""
        rows.append((each.name, f"{each.value:.3f}", interval, f"{each.questions:,}", since, meaning))
    return _table("Figures", "Figures of this run", HEADS, rows)


def _since(result: Result, before: Result) -> str:
    change = result.value - before.value
    if round(change, 3) == 0:
        return "same"
    return f"{change:+.3f}, {'better' if (change > 0) == result.rising else 'worse'}"


def _courses(runs: Sequence[Run]) -> str:
    plots = []
    for number, name in enumerate(each.name for each in runs[-1].results):
        points = [(each, run.ended[:10]) for run in runs for each in run.results if each.name == name]
        plot = course([each for each, _ in points], [day for _, day in points], f"course-{number}")
        plots.append(f"<figure>{plot}<figcaption>{escape(name)}, {len(points)} runs</figcaption></figure>")
    return f'<h2>History</h2><div class="plots">{"".join(plots)}</div>'


def _confidence(outcomes: Sequence[Outcome]) -> str:
    """How far confidence can be relied on: what it promises, and the share that is right."""
    bins = calibration_bins(each.answer for each in outcomes if each.answer)
    caption = "The answers given"
    rows = [(f"{each.confidence:.2f}", f"{each.right:.2f}", f"{each.count:,}") for each in bins]
    return _table("Confidence", caption, ("mean confidence", "share whose first citation is right", "answers"), rows)


def _mistakes(asked: EvaluationSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The questions without a right paper among the first hits, and those answered although nothing answers them."""
    questions = {each.question_id: each for each in asked.questions}
    missed, answered = [], []
    for each in outcomes:
        text, right = questions[each.question_id].text, ", ".join(questions[each.question_id].pmids)
        if each.relevant and min(each.places, default=FIRST + 1) > FIRST:
            missed.append((text, str(min(each.places)) if each.places else "not found", right))
        answer = each.without if each.relevant else each.answer
        if answer and answer.answered and not answer.first_right:
            answered.append((text, f"{answer.confidence:.2f}", right))
    for title, what, rows in (
        (f"Questions without a right paper among the first {FIRST}", "place of the first", missed),
        ("Questions answered without a right paper in the corpus", "confidence", answered),
    ):
        note = f", {MOST_LISTED} of them" if len(rows) > MOST_LISTED else ""
        heads = ("question", what, "right papers (PMID)")
        yield _table(title, f"{len(rows):,} questions{note}", heads, rows[:MOST_LISTED])
