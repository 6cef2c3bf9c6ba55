"""Where the emulator listens, on one address and never on all, and what functions in containers are given."""

import json

import jwt
import pytest

from bio_mcp.doors.docs import ROOT
from tests.emulated.emulator import Unusable, emulator
from tests.sam_local.__main__ import by_hand
from tests.sam_local.local import host_of


@pytest.mark.parametrize(
    "addresses", ['[{"Subnet": "172.17.0.0/16"}]', '[{"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.1"}]']
)
def test_containers_reach_this_machine_on_a_network_that_was_just_made_too(addresses):
    assert host_of(addresses) == "172.17.0.1"


def test_no_address_is_not_taken_for_all_of_them():
    with pytest.raises(Unusable, match="address"), emulator(""):
        pass


def test_a_function_run_by_hand_lets_in_the_token_of_its_events():
    given = by_hand({"McpHttpFunction": {"MCP_AUTH_SECRET_KEY": "secretsmanager:other", "BIO_MCP_MODE": "aws"}})
    door = given["McpHttpFunction"]
    event = json.loads((ROOT / "events/mcp_http/tools_list.json").read_text())
    token = event["headers"]["authorization"].removeprefix("Bearer ")
    claims = jwt.decode(token, door["MCP_AUTH_SECRET_KEY"], ["HS256"], audience=door["MCP_AUTH_AUDIENCE"])
    assert (claims["sub"], door["BIO_MCP_MODE"]) == ("events", "aws")
