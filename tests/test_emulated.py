"""Where the emulator listens, on one address and never on all, and what functions in containers are given."""

import pytest

from tests.emulated.clients import REGION, configured, connect
from tests.emulated.emulator import Unusable, emulator
from tests.sam_local.local import host_of


@pytest.mark.parametrize(
    "addresses", ['[{"Subnet": "172.17.0.0/16"}]', '[{"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.1"}]']
)
def test_containers_reach_this_machine_on_a_network_that_was_just_made_too(addresses):
    assert host_of(addresses) == "172.17.0.1"


@pytest.mark.parametrize(
    ("settings", "endpoint"),
    [
        ({}, ""),
        ({"USE_SSL": "1"}, ""),
        ({"LOCALSTACK_HOST": "stack.example"}, "http://stack.example:4566"),
        ({"LOCALSTACK_HOST": "stack.example:4510", "USE_SSL": "1"}, "https://stack.example:4510"),
        ({"LOCALSTACK_HOST": "stack.example", "AWS_ENDPOINT_URL": "http://other.example"}, "http://other.example"),
    ],
)
def test_a_stack_is_deployed_into_the_localstack_that_a_user_has_set(settings, endpoint, monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "LOCALSTACK_HOST", "USE_SSL"):
        monkeypatch.setenv(name, settings.get(name, ""))
    assert configured() == endpoint
    if endpoint:
        assert connect(endpoint)("sqs").meta.endpoint_url == endpoint


def test_no_address_is_not_taken_for_all_and_a_port_that_is_none_is_refused_by_its_setting(monkeypatch):
    with pytest.raises(Unusable, match="address"), emulator(""):
        pass
    monkeypatch.setenv("AWS_ENDPOINT_URL", "")
    monkeypatch.setenv("LOCALSTACK_HOST", "stack.example:edge")
    with pytest.raises(Unusable, match="LOCALSTACK_HOST"):
        configured()


def test_clients_of_our_own_emulator_are_at_its_address_whatever_a_user_has_set(monkeypatch):
    for name, value in {"AWS_ENDPOINT_URL": "http://other.example", "USE_SSL": "1"}.items():
        monkeypatch.setenv(name, value)
    client = connect("http://127.0.0.1:4999")("sqs")
    assert (client.meta.endpoint_url, client.meta.region_name) == ("http://127.0.0.1:4999", REGION)
    assert configured() == "http://other.example"
