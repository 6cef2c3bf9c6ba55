from itertools import permutations

import pytest

from bio_mcp.literature.pubmed_files import in_order, place, published_md5

FILES = [
    "pubmed25n1590.xml.gz",
    "pubmed26n0001.xml",
    "pubmed26n0999.xml.xz",
    "pubmed26n1000.xml.gz",
    "pubmed26n10001.xml.gz",
]


def test_files_hold_in_the_order_of_years_and_numbers():
    assert all(in_order(each) == FILES for each in permutations(FILES))


@pytest.mark.parametrize(
    "name",
    ["pubmed26n0001.xml.gz.md5", "README.txt", "pubmed26n01.xml", "a/pubmed26n0001.xml", "pubmed26n0001.xml.gz\n"],
)
def test_any_other_name_is_no_file_of_pubmed(name):
    assert place(name) is None
    assert in_order([name]) == []


MD5 = "8f1a5d0c0c7d3b0e7e1f6a2b3c4d5e6f"


@pytest.mark.parametrize("text", [f"MD5(pubmed26n0001.xml.gz)= {MD5}\n", f"{MD5}  pubmed26n0001.xml.gz\n", MD5.upper()])
def test_an_md5_is_read_as_ncbi_writes_it_and_as_md5sum_does(text):
    assert published_md5(text) == MD5


@pytest.mark.parametrize("text", ["", "MD5(x)= ", MD5[1:], f"{MD5}0"])
def test_what_is_no_md5_is_none(text):
    assert published_md5(text) is None
