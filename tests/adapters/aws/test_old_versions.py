"""Old versions of papers in DynamoDB: none is lost to another writer or to its length, and none outlives its paper."""

import re

import pytest

from bio_mcp.adapters.aws.documents import DynamoDocuments
from bio_mcp.errors import NotFound
from tests.adapters.aws.dying import Killed, killed_after, overtaken
from tests.adapters.aws.test_large_values import LONG, document, stored
from tests.syncing.stored import gone


def over(ports, client):
    return DynamoDocuments(client, ports.documents._table.name, lambda: ports.blobs)


@pytest.mark.parametrize(("meanwhile", "stands"), [(2, {1, 2, 3}), (5, {1, 5})])
def test_a_version_that_another_stores_at_the_same_time_is_not_lost_and_never_lowered(ports, meanwhile, stands):
    ports.documents.put([document("first", 1)])
    other = overtaken(ports.dynamodb, lambda: ports.documents.put([document("meanwhile", meanwhile)]))
    over(ports, other).put([document("third", 3)])
    assert ports.documents.heads(["1"])["1"].version == max(stands)
    assert {n for n in range(1, 6) if is_stored(ports, n)} == stands


def is_stored(ports, version):
    try:
        return ports.documents.at_version("1", version).version == version
    except NotFound:
        return False


def test_old_versions_of_any_length_come_back_equal_and_need_no_second_file(ports):
    for version, text in enumerate((LONG, LONG[:240_000], "short", LONG), start=1):
        ports.documents.put([document(text, version)])
    assert [len(ports.documents.at_version("1", n).article.abstract[0].text) for n in (1, 2, 3)] == [
        1_200_000,
        240_000,
        5,
    ]
    assert len(stored(ports)) == 2


def test_a_deletion_that_was_killed_leaves_no_version_of_a_paper_that_is_gone(ports):
    for version in (1, 2):
        ports.documents.put([document("text", version)])
    with pytest.raises(Killed):
        over(ports, killed_after(ports.dynamodb, 0, "transact_write_items")).delete(gone("1"))
    assert not is_stored(ports, 1)
    ports.documents.delete(gone("1"))
    assert ports.documents.count() == 0
    names = {item["pmid"]["S"] for item in ports.dynamodb.scan(TableName=ports.documents._table.name)["Items"]}
    assert [each for each in names if not re.fullmatch(r"#(\d+|day .+|deletions)", each)] == ["1"]  # the tombstone


def test_items_of_old_versions_are_no_papers(ports):
    for version in (1, 2):
        ports.documents.put([document("text", version)])
    assert list(ports.documents.pmids()) == ["1"]
    assert ports.documents.count() == 1
    with pytest.raises(NotFound):
        ports.documents.at_version("#old 1", 1)
