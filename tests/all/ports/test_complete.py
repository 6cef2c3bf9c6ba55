"""Every port that AWS gives is tested here too."""

from pathlib import Path

from tests.adapters.ports.conftest import PORTS
from tests.support.aws_ports import AwsPorts

ELSEWHERE = {"cache"}  # its lifetimes are counted by a clock that the emulator does not have


def test_each_suite_of_a_port_that_aws_gives_is_run_over_the_emulator():
    here = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert here - {"complete", "rate_limit", "index_in_s3"} == (AwsPorts.gives & set(PORTS)) - ELSEWHERE
