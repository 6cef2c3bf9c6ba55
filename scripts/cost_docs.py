"""The tables of docs/cost.md and of domains in docs/runbook.md, by the model that `bio-mcp cost` asks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from bio_mcp.costing.estimate import Estimate, estimate
from bio_mcp.costing.index import vectors_gb
from bio_mcp.costing.lines import Line, together
from bio_mcp.costing.workload import PUBMED, SIZES, Vectors, usual

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
DOMAINS = (10_000, 200_000, 1_000_000, 2_000_000)  # papers, of the runbook's table


def cost_tables() -> Mapping[str, Table]:
    """The tables by their names on the page: head and rows."""
    estimates = [estimate(each) for each in SIZES]
    head = ("", *(f"{each.workload.records:,}, {each.workload.index}" for each in estimates))
    return {
        "sizes": (head, _sizes(estimates)),
        "load": (("what", "arithmetic", "dollars"), _arithmetic(estimate(usual(PUBMED)).load.lines)),
        "month": (head, _months(estimates)),
    }


def domain_table() -> Table:
    """How large the domain must be, by papers."""
    estimates = [estimate(usual(records)) for records in DOMAINS]
    domains = [each.domain for each in estimates if each.domain]
    layouts = get_args(Vectors)
    memory = [[vectors_gb(replace(each.workload, vectors=layout)) for each in estimates] for layout in layouts]
    return ("", *(f"{records:,}" for records in DOMAINS)), [
        *(
            (f"memory beside the heap, GB, `{layout}`", *(f"{each:,.2f}" for each in sizes))
            for layout, sizes in zip(layouts, memory, strict=True)
        ),
        ("disk as it is written, GB", *(f"{each.disk_gb:,.1f}" for each in estimates)),
        ("`OpenSearchVolumeGiB` of each node", *(f"{each.volume_gib}" for each in domains)),
        ("smallest `OpenSearchInstanceType`, `float`", *(each.instance.name for each in domains)),
        ("`OpenSearchShards`", *(f"{each.shards}" for each in domains)),
    ]


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
