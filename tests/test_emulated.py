"""Where the emulator listens: on one address, and never on all."""

import pytest

from tests.emulated.emulator import Unusable, emulator
from tests.sam_local.local import host_of


@pytest.mark.parametrize(
    "addresses", ['[{"Subnet": "172.17.0.0/16"}]', '[{"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.1"}]']
)
def test_containers_reach_this_machine_on_a_network_that_was_just_made_too(addresses):
    assert host_of(addresses) == "172.17.0.1"


def test_no_address_is_not_taken_for_all_of_them():
    with pytest.raises(Unusable, match="address"), emulator(""):
        pass
