"""ASReview's default model over a review, in an environment of its own: JSON from standard input to standard output."""

import json
import sys
import warnings

warnings.filterwarnings("ignore")

from asreview.learner import ActiveLearningCycle  # noqa: E402
from asreview.models.models import get_ai_config  # noqa: E402
from asreview.simulation.simulate import Simulate  # noqa: E402
from pandas import DataFrame  # noqa: E402


def main() -> None:
    """For each pair of papers that are known first, the order in which the others are looked at."""
    given = json.load(sys.stdin)
    default = get_ai_config()["value"]
    rows = ActiveLearningCycle.from_meta(default).transform(DataFrame(given["texts"], columns=["title", "abstract"]))
    orders = []
    for known in given["known"]:
        cycle = ActiveLearningCycle.from_meta(default, skip_feature_extraction=True)
        simulation = Simulate(rows, given["labels"], [cycle], print_progress=False, skip_transform=True)
        simulation.label(known)
        simulation.review()
        orders.append([int(each) for each in simulation._results["record_id"]])
    json.dump(orders, sys.stdout)


main()
