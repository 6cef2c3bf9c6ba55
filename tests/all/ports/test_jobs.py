from tests.adapters.ports.test_jobs import *  # noqa: F403  the very same tests
