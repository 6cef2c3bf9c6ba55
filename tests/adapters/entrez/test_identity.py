"""Who we are to NCBI, and a key that is replaced while we run."""

from bio_mcp.adapters.entrez.transport import Identity


def test_only_what_is_known_is_sent():
    assert dict(Identity("bio-mcp")) == {"tool": "bio-mcp"}
    assert dict(Identity("bio-mcp", "a@example.org")) == {"tool": "bio-mcp", "email": "a@example.org"}


def test_a_key_is_read_again_for_each_request():
    keys = iter(["old", "new"])
    identity = Identity("bio-mcp", key=lambda: next(keys))
    assert [dict(identity)["api_key"], dict(identity)["api_key"]] == ["old", "new"]
    assert len(identity) == 2
