"""Writers of one corpus take turns in orders that follow from seeds, are left standing and killed, while clocks jump.

What is left is what the newest says, and of one piece. A test's name has its first seed; a failure names its seed and
the steps, and `SEED=17 pytest tests/interleaving` runs that seed of every kind alone.
"""

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.interleaving.corpora import Documents, OverDynamoDB, Papers, fast, run

SEEDS, AT_ONCE = {Papers: 1_000, Documents: 400, OverDynamoDB: 6}, 50
BLOCKS = [
    (kind, range(first, min(first + AT_ONCE, seeds))) for kind, seeds in SEEDS.items() for first in range(0, seeds, AT_ONCE)
]
if "SEED" in os.environ:
    BLOCKS = [(kind, [int(os.environ["SEED"])]) for kind in SEEDS]


@pytest.mark.parametrize(("kind", "seeds"), BLOCKS, ids=[f"{kind.__name__}-{seeds[0]}" for kind, seeds in BLOCKS])
@pytest.mark.usefixtures("nobody")
def test_writers_in_any_order_leave_what_the_newest_says(kind, seeds):
    for seed in seeds:
        with TemporaryDirectory(dir=fast()) as home, closing(kind(Path(home), random := Random(seed))) as around:
            try:
                run(around, random)
            except BaseException as problem:
                problem.add_note(f"seed {seed} of {kind.__name__}")
                raise
