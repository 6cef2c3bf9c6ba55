"""A simulated first load with injected failures, and the estimate beside it."""

from dataclasses import replace

import pytest

from benchmarks._load_simulation import BATCH, Faults, simulate
from scripts.cost import Prices, Rates, first_load, usual

FILES = [3_000] * 200 + [1_234] * 10
RATES = Rates()
HARD = Faults(death=0.02, broken=0.03, index_per_s=600, queue=20)


def test_every_record_of_a_file_that_can_be_read_is_durable_once():
    ran = simulate(FILES, 50, RATES, HARD, seed=1)
    lost = len(ran.failed) * BATCH  # at most: of a file that cannot be read the last batch is missing
    assert ran.failed
    assert ran == simulate(FILES, 50, RATES, HARD, seed=1)
    assert sum(FILES) - lost <= ran.records < sum(FILES)
    assert ran.written > ran.records  # a function that dies after indexing leaves work that is done again


def test_without_broken_files_nothing_is_missing_whatever_dies():
    ran = simulate(FILES, 50, RATES, Faults(death=0.05), seed=2)
    assert (ran.records, ran.failed) == (sum(FILES), [])
    assert ran.deaths > 50


def test_an_index_that_refuses_writes_costs_time_that_is_paid_and_no_records():
    free = simulate(FILES, 50, RATES, Faults(), seed=4)
    slow = simulate(FILES, 50, RATES, Faults(index_per_s=300, queue=5), seed=4)
    assert slow.refused > free.refused == 0
    assert slow.paid_s > 1.5 * free.paid_s
    assert slow.elapsed_s >= sum(FILES) / 300
    assert slow.records == free.records


def test_the_estimate_is_within_a_tenth_of_a_load_of_1200_files_with_failures():
    files, loaders = [3_000] * 1_200, 200
    ran = simulate(files, loaders, RATES, Faults(death=0.01, index_per_s=4_000), seed=5)
    estimated = first_load(replace(usual(sum(files)), loaders=loaders), RATES, Prices())
    assert ran.records == sum(files)
    assert ran.paid_s * RATES.loader_gb * Prices().lambda_gb_s == pytest.approx(estimated.compute, rel=0.1)
    assert ran.elapsed_s > sum(files) * RATES.seconds_a_record / loaders * 0.9
