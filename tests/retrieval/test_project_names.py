from itertools import product

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.retrieval.project_chunks import checked_project_id, collection_name


def test_the_name_of_the_contract():
    assert collection_name("citeloom/clean-arch") == "proj-citeloom-clean-arch"


def test_no_two_projects_share_a_collection():
    ids = {"".join(each) for length in range(1, 8) for each in product("a-/", repeat=length)}
    allowed = [each for each in ids if all(part and part[0] == "a" for part in each.split("/"))]
    assert len({collection_name(each) for each in allowed}) == len(allowed) > 100


def test_a_hash_that_somebody_writes_as_an_id_is_another_name():
    hashed = collection_name("a-b/c")
    assert collection_name(hashed.removeprefix("proj--")) != hashed


@pytest.mark.parametrize(
    "project_id",
    ["", "/", "a/", "/a", "a//b", "../a", "a/../b", "A", "a b", "a*", "a,b", "_all", ".a", "-a", "ก", "a" * 101],
)
def test_what_could_name_something_else_is_no_id(project_id):
    with pytest.raises(InvalidInput, match="cannot be the id of a project"):
        checked_project_id(project_id)
