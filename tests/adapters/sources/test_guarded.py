"""A source is read from the place that its scheme names, or refused."""

from functools import partial
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.sources import FILES, Folders, GuardedSources
from bio_mcp.errors import InvalidInput
from bio_mcp.lazy import Lazy
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.support.hooked import raising


def place(name):
    return SimpleNamespace(locate=lambda source, **_: f"{name} {source}")


@pytest.fixture
def sources():
    return GuardedSources({name: partial(place, name) for name in (FILES, "s3", "https")})


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("/papers/a.pdf", FILES),
        ("papers/a.pdf", FILES),
        ("a: b.pdf", FILES),
        ("file:///papers/a.pdf", FILES),
        ("FILE:/papers/a.pdf", FILES),
        ("s3://bucket/a.pdf", "s3"),
        ("S3://bucket/a.pdf", "s3"),
        ("https://host/a.pdf", "https"),
    ],
)
def test_a_source_goes_to_its_place(sources, source, place):
    assert sources.locate(source, local=True) == f"{place} {source}"


@pytest.mark.parametrize("source", ["ftp://host/a", "gopher://host", "data://x", "dict://host:11211/", "smb://host/a"])
def test_other_schemes_are_refused_with_the_forms_that_are_read(sources, source):
    with pytest.raises(InvalidInput, match="a source is a path, s3://bucket/key, https:"):
        sources.locate(source, local=True)
    with pytest.raises(InvalidInput, match="use https"):
        sources.locate("http://host/a.pdf", local=True)


def test_a_lambda_function_reads_none_of_its_own_files():
    with_files, without = Embedded(Settings()), Embedded(Settings(initialization="on-demand"))
    assert with_files.sources.locate("/", local=True) == "/"
    with pytest.raises(InvalidInput, match="a path is not read here; a source is s3:"):
        without.sources.locate("/etc/passwd", local=True)


def test_a_place_is_made_when_it_is_first_asked_for():
    sources = GuardedSources({FILES: Lazy(lambda: Folders([])), "s3": raising(AssertionError, "nobody asked")})
    assert sources.locate("/", local=True) == "/"
