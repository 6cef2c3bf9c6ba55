"""A first load of PubMed's 1,200 files, simulated batch by batch with injected failures, beside the estimate.

    python -m benchmarks.load_cost

200 functions at once. A function that dies loses its batch, or what it had indexed and not yet marked; a file that
cannot be read is tried six times and listed; an index that is behind refuses writes, and the function waits, paid for.
"""

from benchmarks._load_simulation import Faults, simulate
from scripts.cost import Prices, Rates, first_load, usual

FILES, RECORDS, SEED = 1_200, 30_000, 20_261_122
RUNS = (
    ("no failures", Faults()),
    ("1 % of batches die", Faults(death=0.01)),
    ("1 % die, 0.5 % of files break off", Faults(death=0.01, broken=0.005)),
    ("1 % die, index takes 2,500 papers a second", Faults(death=0.01, index_per_s=2_500)),
    ("1 % die, index takes 1,500 papers a second", Faults(death=0.01, index_per_s=1_500)),
)


def main() -> None:
    rates, prices = Rates(), Prices()
    estimated = first_load(usual(FILES * RECORDS), rates, prices)
    print(
        "| | hours | dollars of functions | records | written | functions that died | writes refused | files listed |"
    )
    print("|---|---|---|---|---|---|---|---|")
    print(f"| estimate | {estimated.embedding_hours:.2f} | {estimated.compute:.2f} | {FILES * RECORDS:,} | | | | |")
    for name, faults in RUNS:
        ran = simulate([RECORDS] * FILES, 200, rates, faults, SEED)
        dollars = ran.paid_s * rates.loader_gb * prices.lambda_gb_s
        counts = (ran.records, ran.written, ran.deaths, ran.refused, len(ran.failed))
        print(f"| {name} | {ran.elapsed_s / 3600:.2f} | {dollars:.2f} | {' | '.join(f'{each:,}' for each in counts)} |")


if __name__ == "__main__":
    main()
