"""Documents are read from the allowed buckets of S3, by their keys as they are."""

from urllib.parse import parse_qs, urlsplit

import pytest
from moto import mock_aws

from bio_mcp.adapters.aws.blobs import S3Files
from bio_mcp.errors import Forbidden, InvalidInput, UnreadableDocument
from bio_mcp.ports.stores import EXPIRING_DAYS
from tests.support.aws_ports import client
from tests.support.aws_template import RESOURCES

ODD = [
    "inbox/lab/heart failure/a b.pdf",
    "inbox/lab/100%25 sure.pdf",
    "inbox/lab/a%2Fb.pdf",
    "inbox/lab/a+b?c#d.pdf",
    "inbox/lab/ขมิ้นชัน.pdf",
    "inbox/lab/../lab/dots.pdf",
]


@pytest.fixture
def s3(nobody):
    with mock_aws():
        made = client("s3")
        for bucket in ("papers", "private"):
            made.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        yield made


@pytest.fixture
def put(s3):
    def put(*keys, bucket="papers", body=b"%PDF"):
        for key in keys:
            s3.put_object(Bucket=bucket, Key=key, Body=body)

    return put


@pytest.fixture
def files(s3):
    return S3Files(s3, ["papers"], max_bytes=1 << 20, max_files=4)


def found(files, source):
    return files.files(files.locate(source, local=False), local=False)


@pytest.mark.parametrize("key", ODD)
def test_a_key_is_read_as_it_is(files, put, key):
    put(key, body=key.encode())
    [file] = found(files, f"s3://papers/{key}")
    assert files.read(file.address, local=False) == key.encode()
    assert file.name == key.rpartition("/")[2]


def test_a_folder_gives_the_documents_below_it_by_key(files, put):
    put("p/b.pdf", "p/a.pdf", "p/deep/c.md", "p/figure.png", "p/.hidden.pdf", "p/.git/d.pdf", "p/", "p-private/e.pdf")
    for source in ("s3://papers/p", "s3://papers/p/"):
        assert [each.name for each in found(files, source)] == ["a.pdf", "b.pdf", "deep/c.md"]
    assert [each.address for each in found(files, "S3://papers/p-private")] == ["s3://papers/p-private/e.pdf"]


@pytest.mark.parametrize(
    "source", ["s3://private/a.pdf", "s3://papers.evil/a.pdf", "s3://papers%2Fa/b", "s3://arn:aws:s3:x/a"]
)
def test_another_bucket_is_refused_with_the_setting_that_would_allow_it(files, put, source):
    put("a.pdf", bucket="private")
    with pytest.raises(Forbidden, match="BIO_MCP_INGEST_BUCKETS"):
        found(files, source)


@pytest.mark.parametrize("source", ["s3://", "s3:///a.pdf", "s3://papers/" + "a" * 2_000])
def test_what_is_no_address_of_s3_is_refused(files, source):
    with pytest.raises(InvalidInput, match="s3://bucket/key"):
        found(files, source)


def test_a_key_that_is_not_there_is_refused_without_its_name(files, put):
    with pytest.raises(InvalidInput) as refused:
        found(files, "s3://papers/secret-name.pdf")
    assert "secret-name" not in str(refused.value)
    with pytest.raises(InvalidInput, match="not there any more"):
        files.read("s3://papers/gone.pdf", local=False)


def test_an_object_that_is_too_large_is_refused(files, put):
    put("large.pdf", body=b"x" * ((1 << 20) + 1))
    with pytest.raises(UnreadableDocument, match="larger than 1 MB"):
        files.read("s3://papers/large.pdf", local=False)


def test_a_folder_of_too_many_documents_is_refused(files, put):
    put(*(f"p/{n}.pdf" for n in range(5)))
    with pytest.raises(InvalidInput, match="more than 4 documents"):
        found(files, "s3://papers/p")


def test_an_address_downloads_one_file_under_a_name_for_a_time(ports):
    key = ports.blobs.put("exports", b"TY  - JOUR", ".ris")
    address = urlsplit(ports.blobs.link(key, "papers-20260101.ris", 3_600))
    wanted = parse_qs(address.query)
    assert (address.scheme, address.path.endswith(f"/{key}")) == ("https", True)
    assert wanted["response-content-disposition"] == ['attachment; filename="papers-20260101.ris"']
    assert {"X-Amz-Signature", "Signature"} & set(wanted)
    assert {"X-Amz-Expires", "Expires"} & set(wanted)


def test_the_bucket_ends_files_when_the_port_says():
    rules = RESOURCES["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    days = {each["Prefix"]: each["ExpirationInDays"] for each in rules if "ExpirationInDays" in each}
    assert {f"{folder}/": each for folder, each in EXPIRING_DAYS.items()}.items() <= days.items()
