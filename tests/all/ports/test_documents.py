from tests.adapters.ports.test_documents import *  # noqa: F403  the very same tests
