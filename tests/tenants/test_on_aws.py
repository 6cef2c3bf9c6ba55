"""What tenants have of their own, in DynamoDB, S3 and SQS."""

from contextlib import ExitStack, closing

import pytest

from bio_mcp.call import call, read
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NotFound
from bio_mcp.tenants import CallBackends, Names
from bio_mcp.tool import Tool
from tests.support.aws_corpus import AwsCorpus, Roomy
from tests.support.aws_ports import NOBODY, MotoPorts
from tests.tenants.two_tenants import JOB, NORTH, OWN, SECRET, SOUTH, attempts, furnish, guesses, state_of

NAMING = {"inspect_collection", "query", "query_hybrid", "find_chunks", "store_chunks", "hybrid_search"}


class Stack(AwsCorpus):
    """A corpus on AWS, with collections that last."""

    limits = None

    def __init__(self, made):
        super().__init__(made, "http://127.0.0.1:9", None)
        self.rooms = Roomy()

    @property
    def collections(self):
        return self.rooms


@pytest.fixture(scope="module")
def stack():
    with pytest.MonkeyPatch.context() as patch, ExitStack() as opened:
        for name, value in NOBODY.items():
            patch.setenv(name, value)
        made = opened.enter_context(closing(Stack(opened.enter_context(closing(MotoPorts())))))
        made.files = {owner.tenant: furnish(made, owner) for owner in (NORTH, OWN)}
        yield made


def test_a_stranger_finds_nothing_of_another_tenant(stack):
    before = state_of(stack, NORTH)
    tried = [each for each in attempts(guesses(NORTH, stack.files["north"])) if each[0].name in NAMING]
    for place, (what, arguments) in enumerate(tried[::9]):
        run = call if isinstance(what, Tool) else read
        assert SECRET["north"] not in run(what, arguments, stack, caller=(SOUTH, OWN)[place % 2]).text
    assert state_of(stack, NORTH) == before


@pytest.mark.parametrize("owner", [NORTH, OWN], ids=["a tenant", "the installation"])
def test_an_owner_has_its_own(stack, owner):
    listed = call(TOOLS["list_projects"], {}, stack, caller=owner).body["projects"]
    assert [each["id"] for each in listed] == sorted(["lab", f"{SECRET[owner.tenant]}-den", "vault"])
    own = CallBackends(stack, owner)
    assert [each.job_id for each in own.jobs.newest("ingest", 5)] == [JOB[owner.tenant]]
    assert own.blobs.get(stack.files[owner.tenant]) == SECRET[owner.tenant].encode()
    assert [each.text for each in own.answers.citing("17727691")] == [SECRET[owner.tenant]]


def test_a_file_of_a_tenant_is_below_the_folder_that_its_function_may_read(stack):
    folder, _, name = stack.files["north"].rpartition("/")
    assert stack.blobs.get(f"{folder}/{Names('north').key}/{name}")
    with pytest.raises(NotFound):
        CallBackends(stack, OWN).blobs.get(f"{folder}/{Names('north').key}/{name}")
