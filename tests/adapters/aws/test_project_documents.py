"""Writes to the documents of projects that were killed are healed by repetition; what is long or throttled is whole."""

import pytest

from bio_mcp.adapters.aws.projects import DynamoProjectDocuments
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from tests.adapters.aws.dying import Killed, killed_after

P = "lab/heart"


def document(doc_id, *identifiers, **fields):
    return ProjectDocument(Work(doc_id), frozenset(identifiers), **fields)


WRITES = ("put_item", "batch_write_item", "delete_item")
MANY = tuple(f"citekey:{n}" for n in range(30))  # in two batches


def dying(ports, after):
    table = ports.project_documents._table.name
    return DynamoProjectDocuments(killed_after(ports.dynamodb, after, *WRITES), table, lambda: ports.blobs)


@pytest.mark.parametrize("after", range(3))
def test_a_put_that_was_killed_anywhere_is_whole_after_the_next(ports, after):
    documents = ports.project_documents
    documents.put(P, document("a", "pmid:1", "sha256:old"))
    documents.put(P, document("b", "citekey:0"))
    new = document("a", "pmid:1", *MANY, sha256="new")
    with pytest.raises(Killed):
        dying(ports, after).put(P, new)
    assert {each.doc_id for each in documents.find(P, ["pmid:1", "citekey:0"])} >= {"a"}
    documents.put(P, new)
    assert documents.all(P) == [new, document("b")]
    assert documents.find(P, ["citekey:29"]) == [new]
    assert documents.find(P, ["sha256:old"]) == []


@pytest.mark.parametrize("after", [0, 7, 31])
def test_a_deletion_that_was_killed_anywhere_is_whole_after_the_next(ports, after):
    documents = ports.project_documents
    documents.put(P, document("a", "pmid:1", *MANY))
    documents.put(P, document("b", "pmid:2"))
    with pytest.raises(Killed):
        dying(ports, after).delete(P, ["a"])
    documents.delete(P, ["a"])
    assert documents.all(P) == [document("b", "pmid:2")]
    items = ports.dynamodb.scan(TableName=documents._table.name)["Items"]
    assert [each["item"]["S"] for each in items] == ["document b", "identifier pmid:2"]


def test_names_longer_than_a_key_are_names_all_the_same(ports):
    long = [f"citekey:{'ü' * 2_000}{n}" for n in range(2)]
    for n, name in enumerate(long):
        ports.project_documents.put(P, document(f"{'d' * 2_000}{n}", name))
        ports.project_documents.put_cursor(P, name, {"n": n})
    assert [each.identifiers for each in ports.project_documents.find(P, long[:1])] == [{long[0]}]
    assert [ports.project_documents.cursor(P, name) for name in long] == [{"n": 0}, {"n": 1}]
    assert len(ports.project_documents.all(P)) == 2
