"""A host that speaks https on loopback."""

import pytest

from tests.adapters.sources.tls_server import certificate, serving


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def host(files):
    with serving(*files) as server:
        yield server
