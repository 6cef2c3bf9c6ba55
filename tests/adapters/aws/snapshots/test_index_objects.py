"""The objects of an index, in moto's S3."""

from datetime import timedelta

import pytest

from bio_mcp.adapters.aws.snapshots.manifest import Change, Manifest, Snapshot
from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
from bio_mcp.errors import IndexUnavailable
from tests.aws_ports import client

SNAPSHOT = Snapshot(7, 17, 100, 8 << 20, ("b",))
AT_8 = Manifest(8, "2026-11-22T10:00:00+00:00", SNAPSHOT, (Change(8, "a", 17),))


@pytest.fixture
def s3(ports):
    made = client("s3")
    made.create_bucket(Bucket="bucket")
    return made


@pytest.fixture
def objects(s3):
    return IndexObjects(s3, "bucket", "corpus")


def test_an_index_that_was_never_written_is_empty(objects):
    assert objects.manifest() == (Manifest(), None)


def test_a_manifest_is_read_as_it_was_put_and_not_again_while_it_is_the_same(objects):
    tag = objects.replace(AT_8, None)
    assert objects.manifest() == (AT_8, tag)
    assert objects.manifest(tag) is None


def test_a_manifest_replaces_the_one_that_its_writer_has_seen_and_no_other(objects):
    first = objects.replace(Manifest(), None)
    assert objects.replace(AT_8, None) is None
    second = objects.replace(AT_8, first)
    assert objects.replace(Manifest(), first) is None
    assert objects.manifest() == (AT_8, second)


def test_an_object_that_is_not_what_its_name_says_is_damage_and_one_that_is_gone_may_have_been_replaced(objects, s3):
    key = objects.put(b"content")
    assert objects.get(key) == b"content"
    s3.put_object(Bucket="bucket", Key=f"index/corpus/{key}", Body=b"other")
    with pytest.raises(IndexUnavailable, match="is damaged") as damaged:
        objects.get(key)
    s3.delete_object(Bucket="bucket", Key=f"index/corpus/{key}")
    with pytest.raises(IndexUnavailable, match="has just been replaced") as gone:
        objects.get(key)
    assert (damaged.value.retryable, gone.value.retryable) == (False, True)


@pytest.mark.parametrize("content", [b'{"format": 2}', b"{", b'{"format": 1, "position": 1}'])
def test_a_manifest_of_another_format_is_reported_as_such(objects, s3, content):
    s3.put_object(Bucket="bucket", Key="index/corpus/manifest.json", Body=content)
    with pytest.raises(IndexUnavailable, match="written by another version"):
        objects.manifest()


def test_only_what_is_old_and_unnamed_is_deleted_and_nothing_of_another_index(objects, s3):
    used, unused = objects.put(b"used"), objects.put(b"unused")
    other = IndexObjects(s3, "bucket", "projects")
    others = other.put(b"unused")
    objects.replace(Manifest(), None)
    assert objects.clear([used]) == 0
    assert objects.clear([used], timedelta(seconds=-1)) == 1
    assert (objects.get(used), other.get(others)) == (b"used", b"unused")
    assert objects.manifest()[1]
    with pytest.raises(IndexUnavailable):
        objects.get(unused)


def test_a_bucket_that_is_not_there_is_no_empty_index(s3):
    with pytest.raises(IndexUnavailable, match="does not exist"):
        IndexObjects(s3, "nobodys", "corpus").manifest()


def test_the_changes_since_a_position_are_known_while_the_manifest_names_them():
    changes = tuple(Change(number, str(number), 17) for number in range(3, 9))
    manifest = Manifest(8, None, SNAPSHOT, changes)
    assert manifest.since(8) == ()
    assert manifest.since(2) == changes
    assert manifest.since(6) == changes[-2:]
    assert manifest.since(1) is manifest.since(9) is None
    assert manifest.unpacked == 1
