"""The files of bulk loads in a bucket."""

import pytest

from bio_mcp.adapters.aws.loading import S3LoadFiles
from bio_mcp.errors import NotFound, StoreFailed
from tests.support.aws_ports import client


@pytest.fixture
def files(ports):
    bucket = client("s3")
    bucket.create_bucket(Bucket="loads")
    return S3LoadFiles(bucket, "loads")


def test_a_folder_lists_names_with_tags_that_differ_when_the_content_does(files):
    assert files.tags("files") == {}
    files.put("files/one", b"1")
    files.put("files/two", b"2")
    files.put("other/three", b"3")
    before = files.tags("files")
    assert list(before) == ["one", "two"]
    files.put("files/one", b"another")
    after = files.tags("files/")
    assert after["one"] != before["one"]
    assert after["two"] == before["two"]


def test_the_folders_in_a_folder_are_parts_of_the_names(files):
    files.put("runs/r/failed/one", b"1")
    assert list(files.tags("runs/r/")) == ["failed/one"]


def test_a_put_replaces_and_a_delete_twice_is_one(files):
    files.put("a/b", b"1")
    files.put("a/b", b"2")
    assert files.get("a/b") == b"2"
    for _ in range(2):
        files.delete("a/b")
        assert files.tags("a") == {}


def test_a_file_is_downloaded_as_it_was_when_it_was_listed(files, tmp_path):
    path, content = tmp_path / "file", bytes(range(256)) * 8192
    (tmp_path / "given").write_bytes(content)
    files.upload("files/one", tmp_path / "given")
    tag = files.tags("files")["one"]
    files.download("files/one", path, tag)
    assert path.read_bytes() == content
    files.put("files/one", b"another")
    with pytest.raises(NotFound, match="one is not among the files of loads"):
        files.download("files/one", path, tag)


def test_a_file_that_is_not_there_is_reported_by_its_name(files, tmp_path):
    with pytest.raises(NotFound, match="one is not among"):
        files.get("files/one")
    with pytest.raises(NotFound, match="one is not among"):
        files.download("files/one", tmp_path / "x", "tag")


def test_a_bucket_that_is_not_there_is_no_empty_folder(ports):
    with pytest.raises(StoreFailed):
        S3LoadFiles(client("s3"), "nobodys").tags("files")
