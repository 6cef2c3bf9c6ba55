"""Files in a bucket: addresses that download them, and the rule that ends them."""

from urllib.parse import parse_qs, urlsplit

from bio_mcp.ports.stores import EXPIRING_DAYS
from tests.support.aws_template import RESOURCES


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
