"""What tasks cost an agent: `python -m benchmarks.agents`.

A small deterministic agent (`tests/support/agent.py`) plays the tasks of `tests/data/skill_tasks` over real records, by
the official client: it sees what is listed, the answers and the errors. A token is counted as four bytes: of the list
of tools, which a client pays once, and of all that the agent sends and reads, as text.
"""

import asyncio
import tempfile
from pathlib import Path

from tests.support.agent import BYTES_A_TOKEN, Played, tasks_of
from tests.support.agent_tasks import GROUPS, make_home, played
from tests.support.eutils_server.client import running
from tests.support.eutils_server.fixtures import SAMPLE
from tests.support.scholarly_server.server import serving


def measured(folder: Path) -> list[tuple[str, Played]]:
    """What each task took, by its group."""
    found = []
    with running([SAMPLE]) as ncbi:
        make_home(folder / "home", ncbi)
        for group in GROUPS:
            for number in range(len(tasks_of(group))):
                ncbi.control.reset()
                ncbi.control.rules(rate=None, key_rate=10, strict=False, invalid_keys=[])
                with serving() as scholarly:
                    own = folder / f"{group}-{number}"
                    found.append((group, asyncio.run(played(group, number, folder / "home", own, ncbi, scholarly))))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        every = measured(Path(folder))
    print("| task | of | calls | tokens | outcome |\n| --- | --- | --- | --- | --- |")
    for group, each in every:
        outcome = each.wrong.partition("\n")[0][:100].replace("|", "/") or "done"
        print(f"| {each.asks} | {group} | {each.calls} | {each.tokens:,} | {outcome} |")
    tasks = [each for _, each in every]
    done, calls = sum(not each.wrong for each in tasks), sum(each.calls for each in tasks)
    print(f"\n{done} of {len(tasks)} tasks done in {calls} calls, {sum(each.tokens for each in tasks):,} tokens")
    lists = sorted(each.listed // BYTES_A_TOKEN for each in tasks)
    print(f"lists of tools: {lists[0]:,} to {lists[-1]:,} tokens")


if __name__ == "__main__":
    main()
