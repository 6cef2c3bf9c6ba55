"""How good search and answers are on the product's own sets, by the product's own evaluation.

    python -m benchmarks.evaluation [smoke] [curated] [answers]

It is `bio-mcp eval run` over a data directory of its own, .cache/eval, which keeps the vectors of both corpora.
`make eval` compares the same figures with benchmarks/eval_baseline.json.
"""

import argparse
from contextlib import closing
from time import process_time
from typing import Any

from benchmarks.retrieval import ROOT
from bio_mcp.call import call
from bio_mcp.settings import Settings
from bio_mcp.tools.evaluate import FURTHER_SETS, SETS, eval_run
from bio_mcp.wiring.embedded import Embedded

HOME = ROOT / ".cache/eval"


def evaluated(name: str) -> dict[str, Any]:
    """The figures of a set, each with its interval."""
    asked = {"set": name} if name in SETS else {"set": "custom", "params": {"uri": name}}
    with closing(Embedded(Settings(home=HOME, threads=1))) as backends:
        body = call(eval_run, asked, backends, local=True).body
        while body.get("state") != "complete" or "ended" in body:
            assert "error" not in body, body
            body = call(eval_run, asked, backends, local=True).body
    return body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*SETS, *FURTHER_SETS, []], help="which sets; default all")
    for name in parser.parse_args().sets or [*SETS, *FURTHER_SETS]:
        began = process_time()
        body = evaluated(name)
        print(f"\n{name}, version {body['version']}, {process_time() - began:.0f} CPU s\n")
        print("| figure | value | 95 % interval | questions |\n|---|---|---|---|")
        for each in body["metrics"]:
            less = ", less is better" if each.get("less_is_better") else ""
            interval = f"{each['low']:.3f} to {each['high']:.3f}"
            print(f"| {each['name']}{less} | {each['value']:.3f} | {interval} | {each['questions']} |")


if __name__ == "__main__":
    main()
