from tests.adapters.ports.test_blobs import *  # noqa: F403  the very same tests
