import pytest

from tests.support import moto_server
from tests.support.aws_ports import MotoPorts, client


@pytest.fixture
def ports(nobody, closed):
    return closed(MotoPorts())


@pytest.fixture
def s3(ports):
    made = client("s3")
    made.create_bucket(Bucket="bucket")
    return made


@pytest.fixture(scope="session")
def server():
    with moto_server.running() as address:
        yield address
