"""Writers of one corpus take turns in orders that follow from seeds, are left standing and killed, while clocks jump.

What is left is of one piece, and what the newest says. A test's name has its kind and first seed; a failure names its
seed, with all steps, and `SEED=17 pytest tests/interleaving` runs that seed alone.
"""

import os
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.interleaving.corpora import ChunksApart, Documents, OverDynamoDB, Papers, fast, run

SEEDS = {Papers: 1_600, Documents: 700, ChunksApart: 200, OverDynamoDB: 6}
AT_ONCE = {Papers: 40, Documents: 35, ChunksApart: 40, OverDynamoDB: 2}
BLOCKS = [
    (kind, range(at, at + AT_ONCE[kind])) for kind, seeds in SEEDS.items() for at in range(0, seeds, AT_ONCE[kind])
]
if "SEED" in os.environ:
    BLOCKS = [(kind, [int(os.environ["SEED"])]) for kind in SEEDS]


@pytest.mark.parametrize(("kind", "seeds"), BLOCKS, ids=[f"{kind.__name__}-{seeds[0]}" for kind, seeds in BLOCKS])
@pytest.mark.usefixtures("nobody")
def test_writers_in_any_order_leave_what_the_newest_says(kind, seeds):
    for seed in seeds:
        random = Random(seed)  # noqa: S311  an order, no secret
        with TemporaryDirectory(dir=fast()) as home, closing(kind(Path(home), random)) as around:
            try:
                run(around, random)
            except BaseException as problem:
                problem.add_note(f"seed {seed} of {kind.__name__}")
                raise
