"""`bio-mcp cost`: what a corpus of some size costs on AWS, with the arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from bio_mcp.costing.estimate import Estimate, estimate
from bio_mcp.costing.lines import Line, together
from bio_mcp.costing.prices import Prices
from bio_mcp.costing.workload import MOST, SIZES, Rates, Workload, usual
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session

SOURCE = "Prices are those known on {as_of}, of us-east-1; check them. Where the rates come from: docs/cost.md."


class _Papers(click.IntRange):
    """A number of papers, which may be written 1e6 or 39,000,000."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = float(str(value).replace(",", ""))
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"{value!r} is no number of papers.", param, ctx)
        return super().convert(int(number), param, ctx)


@click.command("cost")
@click.option(
    "--records", type=_Papers(1, MOST["opensearch"]), help="Papers of the corpus.  [default: sizes side by side]"
)
@click.option("--calls-per-day", type=click.IntRange(0), help="Calls of tools a day.  [default: more the larger it is]")
@click.option("--new-per-day", type=click.IntRange(0), help="New papers a day.  [default: as PubMed grows]")
@click.option("--index", "tier", type=click.Choice(["opensearch", "s3"]), help="IndexTier of the stack.  [opensearch]")
@click.option("--vectors", type=click.Choice(["float", "byte", "paper"]), help="OpenSearchVectors.  [float]")
@click.option("--monitoring", type=click.Choice(["full", "basic"]), help="Monitoring of the stack.  [full]")
@click.option("--snapstart/--no-snapstart", default=None, help="SnapStart of the stack.  [on]")
@click.option("--loaders", type=click.IntRange(1, 500), default=200, help="LoadsAtOnce of the stack.  [200]")
@click.option("--papers-per-second", type=click.FloatRange(0.1, 1e6), help="Embedded by one core.  [as measured]")
@answering
def cost_command(session: Session, records: int | None, papers_per_second: float | None, **given: Any) -> None:
    """Estimate what a corpus costs on AWS: its first load, its index, a month. Asks nobody.

    Without --records some sizes stand side by side; with it, each line with its arithmetic.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    rates = replace(Rates(), embedded=papers_per_second) if papers_per_second else Rates()
    workloads = (usual(records),) if records else SIZES
    estimates = [estimate(_checked(replace(each, **chosen)), rates) for each in workloads]
    body = {
        "prices_as_of": Prices().as_of.isoformat(),
        "rates": asdict(rates),
        "estimates": list(map(_body, estimates)),
    }
    session.answer(body, render)


def _checked(workload: Workload) -> Workload:
    if workload.records > MOST[workload.tier]:
        raise click.UsageError(f"An index in S3 holds {MOST['s3']:,} papers at most; give fewer --records.")
    return workload


def _body(of: Estimate) -> dict[str, Any]:
    domain = of.domain
    return {
        "records": of.workload.records,
        "name": of.workload.index,
        "workload": asdict(of.workload),
        "index": {
            "memory_gb": of.memory_gb,
            "disk_gb": of.disk_gb,
            "domain": domain and {**asdict(domain), "instance": domain.instance.name, "copies": domain.copies},
        },
        "parameters": dict(of.parameters),
        "load": {
            "loaders": of.load.loaders,
            "hours": of.load.hours,
            "compute_dollars": of.load.compute,
            "dollars": together(of.load.lines),
            "lines": list(map(_line, of.load.lines)),
        },
        "month": {"dollars": together(of.month), "idle_dollars": of.idle, "lines": list(map(_line, of.month))},
    }


def _line(line: Line) -> dict[str, Any]:
    return {"what": line.what, "arithmetic": line.arithmetic, "dollars": line.dollars}


def render(body: Mapping[str, Any]) -> None:
    """Print the sizes side by side, or one with its arithmetic."""
    estimates = body["estimates"]
    terminal.show(_sizes(estimates))
    if len(estimates) == 1:
        for title, lines in (("The first load", estimates[0]["load"]), ("A month", estimates[0]["month"])):
            terminal.say("", f"{title}: {_dollars(lines['dollars'])}")
            rows = [(each["what"], each["arithmetic"], f"{each['dollars']:,.2f}") for each in lines["lines"]]
            terminal.show(terminal.table(("what", "arithmetic", "dollars"), rows, right=(2,)))
        parameters = " ".join(f"{name}={value}" for name, value in estimates[0]["parameters"].items())
        terminal.say("", f"Parameters of such a stack: {parameters}")
    terminal.say("", SOURCE.format(as_of=body["prices_as_of"]))


def _sizes(estimates: Sequence[Mapping[str, Any]]) -> Any:
    rows = [
        ("memory of the index", [f"{each['index']['memory_gb']:,.1f} GB" for each in estimates]),
        ("its disk", [f"{each['index']['disk_gb']:,.1f} GB" for each in estimates]),
        ("search domain", [_domain(each["index"]["domain"]) for each in estimates]),
        ("functions that load", [f"{each['load']['loaders']:,}" for each in estimates]),
        ("first load", [f"{each['load']['hours']:,.1f} h" for each in estimates]),
        ("its functions", [_dollars(each["load"]["compute_dollars"]) for each in estimates]),
        ("all of it", [_dollars(each["load"]["dollars"]) for each in estimates]),
        ("a month", [_dollars(each["month"]["dollars"]) for each in estimates]),
        ("a month at rest", [_dollars(each["month"]["idle_dollars"]) for each in estimates]),
    ]
    columns = ("papers", *(f"{each['records']:,}" for each in estimates))
    named = [("index", [each["name"] for each in estimates]), *rows]
    return terminal.table(columns, [(name, *cells) for name, cells in named], right=range(1, len(columns)))


def _domain(domain: Mapping[str, Any] | None) -> str:
    return "none" if domain is None else f"{domain['nodes']} × {domain['instance']}"


def _dollars(value: float) -> str:
    return f"${value:,.0f}" if value >= 10 else f"${value:,.2f}"
