from tests.adapters.ports.test_calls import *  # noqa: F403  the very same tests
