import time
from inspect import signature

from bio_mcp.adapters.opensearch.index import KNOWN_S, Alias
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from tests.adapters.opensearch.fake import OPEN, Scripted


def test_an_alias_that_means_two_indices_is_settled_for_the_older():
    of_b = {"mappings": {"_meta": {"fingerprint": "model-b", "dim": 8}}}
    younger = {"corpus-xyz-1": of_b | {"settings": {"index": {"creation_date": "1700000000001"}}}}
    server = Scripted((200, younger | OPEN))
    assert server.passages().alias.refresh().fingerprint == "model-a"


def test_what_the_alias_means_is_looked_up_again_after_a_freeze_and_when_the_clock_was_put_back():
    now = [1_000.0]
    server = Scripted(*[(200, OPEN)] * 3)
    alias = Alias(server.transport(), "corpus", "corpus", Layout(DOMAIN), clock=lambda: now[0])
    for seconds in (0, KNOWN_S - 1, 1, -3_600):  # the third is half a minute after the first
        now[0] += seconds
        assert alias.index().name == "corpus-abc-1"
    assert len(server.asked) == 3
    assert signature(Alias).parameters["clock"].default is time.time  # Lambda's monotonic clock stands still
