import pytest

from bio_mcp.adapters.opensearch.client import REQUEST_BYTES
from bio_mcp.errors import DiskFull, IndexUnavailable
from tests.adapters.opensearch.fake import Scripted, item


def lines(ids):
    return {each: f'{{"delete":{{"_id":"{each}"}}}}\n'.encode() for each in ids}


def test_only_what_was_refused_is_sent_again_and_without_an_answer_everything():
    answers = [{"items": [item("1", 200), item("2", 429), item("3", 503), item("4", 200)]}, {"items": [item("2", 200)]}]
    server = Scripted(*((200, each) for each in answers), (200, {"items": [item("3", 200)]}))
    server.transport().write_bulk("/x/_bulk", ["1", "2", "3", "4"], lines)
    assert [[each["delete"]["_id"] for each in asked[2]] for asked in server.asked] == [list("1234"), ["2", "3"], ["3"]]
    unanswered = Scripted(None, (200, {"items": [item("1", 200), item("2", 200)]}))
    unanswered.transport().write_bulk("/x/_bulk", ["1", "2"], lines)
    assert len(unanswered.asked) == 2
    assert server.pauses == [1, 2]


def test_what_stays_refused_is_counted():
    server = Scripted(*[(200, {"items": [item("1", 200), item("2", 429, error="rejected_execution_exception")]})] * 3)
    with pytest.raises(IndexUnavailable, match=r"1 of 2 documents .*rejected_execution_exception") as raised:
        server.transport().write_bulk("/x/_bulk", ["1", "2"], lines)
    assert raised.value.retryable
    assert raised.value.details == {"unwritten": 1, "tries": 3}


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"items": [item("1", 400, error="mapper_parsing_exception")]}),
        (403, {"error": {"type": "security_exception"}}),
    ],
)
def test_what_will_never_be_taken_is_an_error_at_once(answer):
    server = Scripted(answer)
    with pytest.raises(IndexUnavailable, match="1 of 1") as raised:
        server.transport().write_bulk("/x/_bulk", ["1"], lines)
    assert not raised.value.retryable
    assert not server.pauses


FLOODED = {
    "type": "cluster_block_exception",
    "reason": "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
    "read-only-allow-delete block];",
}


@pytest.mark.parametrize(
    "answer",
    [
        (429, {"error": {"root_cause": [FLOODED], **FLOODED}, "status": 429}),
        (200, {"items": [{"index": {"_id": "1", "status": 429, "error": FLOODED}}]}),
    ],
)
def test_a_disk_that_is_full_is_no_busy_index(answer):
    server = Scripted(answer)
    with pytest.raises(DiskFull, match="more storage"):
        server.transport().write_bulk("/x/_bulk", ["1"], lines)
    assert not server.pauses


def test_a_document_that_was_not_there_is_deleted_all_the_same_and_an_index_that_is_gone_is_an_error():
    server = Scripted((200, {"items": [item("1", 404, "delete"), item("2", 200, "delete")]}))
    server.transport().write_bulk("/x/_bulk", ["1", "2"], lines)
    assert not server.pauses
    server = Scripted((200, {"items": [item("1", 404, "delete", error="index_not_found_exception")]}))
    with pytest.raises(IndexUnavailable, match="index_not_found"):
        server.transport().write_bulk("/x/_bulk", ["1"], lines)


def test_large_batches_go_in_several_requests():
    size = REQUEST_BYTES // 2 + 1

    def heavy(ids):
        return {each: f'{{"delete":{{"_id":"{each}","pad":"{"x" * size}"}}}}\n'.encode() for each in ids}

    server = Scripted(*((200, {"items": [item(each, 200)]}) for each in "123"))
    server.transport().write_bulk("/x/_bulk", ["1", "2", "3"], heavy)
    assert [len(asked[2]) for asked in server.asked] == [1, 1, 1]
