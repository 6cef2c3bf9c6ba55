from tests.adapters.ports.test_resolve import *  # noqa: F403  the very same tests
