"""The tables of docs/cost.md, by the model that `bio-mcp cost` asks."""

from collections.abc import Mapping, Sequence

from bio_mcp.costing.estimate import Estimate, estimate
from bio_mcp.costing.lines import Line, together
from bio_mcp.costing.workload import PUBMED, SIZES, usual

Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def cost_tables() -> Mapping[str, Table]:
    """The tables by their names on the page: head and rows."""
    estimates = [estimate(each) for each in SIZES]
    head = ("", *(f"{each.workload.records:,}, {each.workload.index}" for each in estimates))
    return {
        "sizes": (head, _sizes(estimates)),
        "load": (("what", "arithmetic", "dollars"), _arithmetic(estimate(usual(PUBMED)).load.lines)),
        "month": (head, _months(estimates)),
    }


def _sizes(estimates: Sequence[Estimate]) -> list[Sequence[str]]:
    return [
        (
            "new papers a day; calls a day",
            *(f"{e.workload.new_per_day:,}; {e.workload.calls_per_day:,}" for e in estimates),
        ),
        ("memory of the index, GB", *(f"{e.memory_gb:,.1f}" for e in estimates)),
        ("its disk, GB", *(f"{e.disk_gb:,.1f}" for e in estimates)),
        ("search domain", *(_domain(e) for e in estimates)),
        ("functions that load at once", *(f"{e.load.loaders:,}" for e in estimates)),
        ("first load, hours", *(f"{e.load.hours:,.1f}" for e in estimates)),
        ("its functions, dollars", *(f"{e.load.compute:,.2f}" for e in estimates)),
        ("all of the load, dollars", *(f"{together(e.load.lines):,.2f}" for e in estimates)),
        ("a month, dollars", *(f"{together(e.month):,.0f}" for e in estimates)),
        ("a month at rest, dollars", *(f"{e.idle:,.0f}" for e in estimates)),
    ]


def _domain(of: Estimate) -> str:
    if of.domain is None:
        return "none"
    shards = f", {of.domain.shards} shards" if of.domain.shards > 1 else ""
    copies = f", {of.domain.copies} copies" if of.domain.copies > 1 else ""
    return f"{of.domain.nodes} × {of.domain.instance.name}, {of.domain.volume_gib} GiB each{shards}{copies}"


def _months(estimates: Sequence[Estimate]) -> list[Sequence[str]]:
    lines = [{line.what: line for line in each.month} for each in estimates]
    names = dict.fromkeys(name for each in lines for name in each)
    rows = [(name, *(_cell(each[name]) if name in each else "" for each in lines)) for name in names]
    return [*rows, ("**together**", *(f"**{together(each.month):,.0f}**" for each in estimates))]


def _cell(line: Line) -> str:
    return f"{line.arithmetic} = {line.dollars:,.2f}"


def _arithmetic(lines: Sequence[Line]) -> list[Sequence[str]]:
    rows = [(line.what, line.arithmetic, f"{line.dollars:,.2f}") for line in lines]
    return [*rows, ("**together**", "", f"**{together(lines):,.2f}**")]
