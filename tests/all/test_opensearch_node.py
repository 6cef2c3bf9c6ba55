"""The node of the tests: pinned, alone on its port, and never silently missing."""

import httpx
import pytest

from tests.support.opensearch_node.artefacts import Unusable, _compare


def test_the_node_is_the_pinned_version_and_listens_on_loopback_only(opensearch):
    assert httpx.get(opensearch.url).json()["version"]["number"] == "2.19.1"
    nodes = httpx.get(f"{opensearch.url}/_nodes/http").json()["nodes"].values()
    assert [each["http"]["bound_address"] for each in nodes] == [[opensearch.url.removeprefix("http://")]]


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.jar").write_bytes(b"other")
    with pytest.raises(Unusable, match=r"lib/a\.jar"):
        _compare(tmp_path, f"{'0' * 64}  lib/a.jar\n")
    with pytest.raises(Unusable, match=r"lib/b\.jar"):
        _compare(tmp_path, f"{'0' * 64}  lib/b.jar\n")
